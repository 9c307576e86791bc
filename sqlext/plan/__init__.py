"""The plan: a small tree of frozen nodes between analysis and rewriting. Knows no Spark class."""
