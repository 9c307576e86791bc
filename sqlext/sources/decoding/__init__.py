"""Decode files and messages into Arrow, with the values that Spark's readers would give."""
