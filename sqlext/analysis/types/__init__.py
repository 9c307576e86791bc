"""TODO-DOC sqlext.analysis.types."""
