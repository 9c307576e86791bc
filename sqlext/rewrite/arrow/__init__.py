"""TODO-DOC sqlext.rewrite.arrow."""
