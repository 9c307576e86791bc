"""TODO-DOC sqlext.connectors.filesystem.table."""
