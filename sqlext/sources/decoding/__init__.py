"""Decode files and messages into Arrow."""
