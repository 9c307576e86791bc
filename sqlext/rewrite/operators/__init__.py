"""TODO-DOC sqlext.rewrite.expressions.arithmetic."""
