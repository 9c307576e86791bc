"""The example project of sql_examples/dbt, run by the real dbt."""
