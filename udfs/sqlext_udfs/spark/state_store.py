"""Set the state store that ``transformWithState`` needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
#: The settings that a session needs when a query with an operator starts. A checkpoint remembers its provider.
STATE_STORE_SETTINGS: Mapping[str, str] = {
    _PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # A commit writes what changed and leaves snapshots to a thread: 0.1 s in place of 0.4 to 1 s per micro-batch.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def require_state_store(spark: SparkSession) -> None:
    """Set what the session has not set. Another RocksDB provider stays, as platforms have their own."""
    for key, value in STATE_STORE_SETTINGS.items():
        current = spark.conf.get(key, None)
        if current is None or (key == _PROVIDER and "RocksDB" not in current):
            spark.conf.set(key, value)
