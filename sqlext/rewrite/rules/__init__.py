"""TODO-DOC sqlext.rewrite.rules.order."""
