"""TODO-DOC sqlext.rewrite.expressions.renderer."""
