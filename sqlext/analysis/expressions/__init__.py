"""TODO-DOC sqlext.analysis.expressions."""
