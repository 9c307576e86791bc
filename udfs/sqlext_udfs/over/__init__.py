"""TODO-DOC sqlext_udfs.over."""
