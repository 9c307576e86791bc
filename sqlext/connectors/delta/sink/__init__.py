"""Write Delta tables: by Spark, or in the driver where a batch has few rows."""
