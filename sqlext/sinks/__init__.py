"""TODO-DOC sqlext.sinks."""
