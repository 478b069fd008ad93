"""Closed loops in simulation: control laws as data, references, sensors, and the verb ``simulate``."""
