"""TODO-DOC sqlext.rewrite.export."""
