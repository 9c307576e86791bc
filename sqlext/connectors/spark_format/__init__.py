"""Any data source of Spark."""
