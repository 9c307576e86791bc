"""TODO-DOC sqlext.analysis.matching."""
