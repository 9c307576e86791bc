"""The plan of a query: a small tree of frozen nodes between analysis and rewriting. It knows no Spark class."""
