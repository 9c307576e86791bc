"""Keep the definitions of tables, views and queries in one Delta table, which needs no JVM to read."""
