"""TODO-DOC sqlext_udfs.matching."""
