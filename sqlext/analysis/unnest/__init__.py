"""TODO-DOC sqlext.analysis.unnest."""
