"""TODO-DOC sqlext.rewrite.expressions.text."""
