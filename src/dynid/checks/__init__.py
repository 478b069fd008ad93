"""What can be wrong with a log, a motion or a fit: one question per file."""
