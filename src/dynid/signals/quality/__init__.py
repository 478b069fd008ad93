"""Families of checks on a log, one per file; each looks at one kind of defect."""
