"""TODO-DOC sqlext.analysis.windows.functions."""
