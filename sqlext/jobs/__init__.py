"""TODO-DOC sqlext.jobs."""
