"""TODO-DOC sqlext_udfs.joins."""
