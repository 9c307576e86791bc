"""TODO-DOC sqlext.analysis.scans."""
