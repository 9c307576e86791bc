"""TODO-DOC sqlext.analysis.over.aggregations."""
