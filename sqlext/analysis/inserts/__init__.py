"""TODO-DOC sqlext.analysis.inserts.binding."""
