"""TODO-DOC sqlext_udfs.ranking."""
