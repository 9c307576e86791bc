"""Define statements, queries and expressions as parsed: frozen nodes, each with its span."""
