"""The semantics of stateful operators, with no Spark import."""
