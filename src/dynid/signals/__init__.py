"""Logs and what is done to them: reading, checking, filtering, differentiating, decimating."""
