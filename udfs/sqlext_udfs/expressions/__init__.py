"""TODO-DOC sqlext_udfs.expressions."""
