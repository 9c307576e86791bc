"""TODO-DOC sqlext.session.answers."""
