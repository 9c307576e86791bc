"""Take a defence out, and see that a test of its fault fails: python -m tests.defences [FAULT ...]

The faults are those of docs/internals/faults.md. A defence is taken out by another text in one function. That holds in
the process of the test, and in the drivers that it starts. A fault whose tests all pass then is told, and the command
fails.
"""
