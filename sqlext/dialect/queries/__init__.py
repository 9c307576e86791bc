"""TODO-DOC sqlext.dialect.queries.queries."""
