"""TODO-DOC sqlext.dialect.expressions.operations."""
