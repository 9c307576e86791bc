"""TODO-DOC sqlext.analysis.grouping."""
