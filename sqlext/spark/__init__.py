"""TODO-DOC sqlext.spark."""
