"""Trajectories with exact derivatives, and the files that robots and loggers take."""
