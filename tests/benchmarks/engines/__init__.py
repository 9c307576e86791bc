"""One question asked of several engines: each in a process of its own, warm, one at work at a time."""
