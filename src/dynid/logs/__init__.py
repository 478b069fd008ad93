"""Logs as columns: readers, mappings, units, joint side."""
