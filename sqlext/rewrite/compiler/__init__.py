"""Compile plans to Spark scripts."""
