"""The command line, one file per command: parse, verb, print."""
