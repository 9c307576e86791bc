"""Render expressions as Spark SQL."""
