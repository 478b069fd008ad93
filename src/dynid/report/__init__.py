"""One self-contained page for people, and the same as JSON."""
