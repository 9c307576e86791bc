"""TODO-DOC sqlext_udfs.windows.lanes."""
