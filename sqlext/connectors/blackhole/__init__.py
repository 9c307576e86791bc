"""Rows that nobody keeps."""
