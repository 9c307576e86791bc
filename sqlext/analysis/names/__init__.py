"""TODO-DOC sqlext.analysis.names."""
