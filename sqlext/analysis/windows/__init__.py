"""TODO-DOC sqlext.analysis.windows.table_functions."""
