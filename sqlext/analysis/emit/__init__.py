"""TODO-DOC sqlext.analysis.emit."""
