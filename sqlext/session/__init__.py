"""TODO-DOC sqlext.session."""
