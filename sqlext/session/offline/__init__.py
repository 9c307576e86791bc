"""TODO-DOC sqlext.session.offline."""
