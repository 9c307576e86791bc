"""TODO-DOC sqlext.connectors.formats.base."""
