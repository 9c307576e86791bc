"""Formats of files and messages, described in Spark SQL."""
