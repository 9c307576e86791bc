"""Text to statements: tokens with offsets, then frozen dataclasses. No Spark, no catalog."""
