"""Answer questions about what a session knows: SHOW, DESCRIBE, EXPLAIN, SHOW WATERMARKS."""
