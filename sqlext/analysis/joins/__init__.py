"""TODO-DOC sqlext.analysis.joins.joined_table."""
