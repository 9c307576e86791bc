"""Write scripts as files that run without us: Spark SQL, Databricks SQL, pipelines."""
