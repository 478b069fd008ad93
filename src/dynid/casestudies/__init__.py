"""Published experiments end to end: their figures beside ours."""
