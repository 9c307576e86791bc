"""TODO-DOC sqlext.connectors.delta.table."""
