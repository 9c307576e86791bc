"""TODO-DOC sqlext.rewrite.script.model."""
