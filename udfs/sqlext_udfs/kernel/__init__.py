"""TODO-DOC sqlext_udfs.kernel."""
