"""Stateful operators on Spark's transformWithState: thin adapters of ``udfs.core``."""

from sqlext_udfs.spark.state_store import STATE_STORE_SETTINGS as STATE_STORE_SETTINGS
