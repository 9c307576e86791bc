"""TODO-DOC sqlext_udfs.windows.triggers."""
