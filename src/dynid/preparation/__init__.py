"""From a log to a motion: filters, derivatives, decimation, as a plan."""
