"""Export: an identified model in the forms that simulators, controllers and papers take."""
