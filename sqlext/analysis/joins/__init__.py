"""TODO-DOC sqlext.analysis.joins.static."""
