"""TODO-DOC sqlext_udfs.windows.panes."""
