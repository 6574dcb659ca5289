"""The command line: one file per verb, which parses, calls and prints."""
