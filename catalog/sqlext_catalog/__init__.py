"""The catalog: what every table, view and query is, in one Delta table that needs no JVM to read."""
