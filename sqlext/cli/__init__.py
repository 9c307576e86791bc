"""The command line: a thin face of one Session."""
