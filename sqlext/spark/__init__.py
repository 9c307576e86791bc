"""Meet Spark: the embedded session, settings, failures in plain words, and what classic and Connect differ in."""
