"""TODO-DOC sqlext_udfs.aggregates."""
