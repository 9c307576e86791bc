"""Check, rewrite, explain and complete scripts without a JVM."""
