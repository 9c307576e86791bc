"""Stateful operators on Spark's transformWithState: thin adapters of ``udfs.core``."""

from sqlext.udfs.processors.state_store import STATE_STORE_SETTINGS as STATE_STORE_SETTINGS
