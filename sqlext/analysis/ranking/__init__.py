"""TODO-DOC sqlext.analysis.ranking."""
