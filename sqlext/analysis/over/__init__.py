"""TODO-DOC sqlext.analysis.over.functions."""
