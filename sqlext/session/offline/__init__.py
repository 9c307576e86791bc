"""Check, rewrite and complete scripts without a JVM."""
