"""Analysis without Spark."""
