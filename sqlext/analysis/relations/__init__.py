"""TODO-DOC sqlext.analysis.selects.from_clause."""
