"""TODO-DOC sqlext.analysis.selects.blocks."""
