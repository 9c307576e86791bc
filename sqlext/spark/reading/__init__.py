"""TODO-DOC sqlext.spark.reading."""
