"""TODO-DOC sqlext_udfs.windows.one_pane."""
