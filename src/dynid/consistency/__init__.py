"""Consistency: standard parameters that a robot can have, from base parameters that a log has shown."""
