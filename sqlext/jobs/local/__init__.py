"""Jobs without an end that run in this process, micro-batch by micro-batch."""
