"""TODO-DOC sqlext.connectors.kafka.table."""
