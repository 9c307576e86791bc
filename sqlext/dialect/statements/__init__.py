"""TODO-DOC sqlext.dialect.statements.choice."""
