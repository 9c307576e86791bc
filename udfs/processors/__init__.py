"""Stateful operators on Spark's transformWithState: thin adapters of ``udfs.core``."""
