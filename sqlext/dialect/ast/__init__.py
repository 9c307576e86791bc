"""TODO-DOC sqlext.dialect.ast."""
