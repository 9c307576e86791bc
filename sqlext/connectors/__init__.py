"""Sources and sinks described without Spark: what their options mean, and what is read or written."""
