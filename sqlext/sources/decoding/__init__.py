"""TODO-DOC sqlext.sources.decoding."""
