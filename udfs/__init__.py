"""Stateful functions: what Spark SQL cannot say, as operators with state."""
