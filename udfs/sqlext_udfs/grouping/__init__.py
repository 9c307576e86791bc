"""TODO-DOC sqlext_udfs.grouping."""
