"""Whatever is written: an answer, or our own error."""
