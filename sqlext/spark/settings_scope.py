"""Set the Spark settings that a rewritten query needs while it is analysed and started."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sqlext.connectors.registry import connector_of
from sqlext.rewrite.script.model import OperatorView, SparkScript

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: ansi: a CAST that fails and a division by zero fail the job, as in Flink. caseSensitive: names are, as in
#: Flink; ours are already resolved, so a Spark user's other spelling still works.
#: timeType: TIME is behind a switch in Spark 4.2.
_ALWAYS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.timeType.enabled": "true",
}

#: One thread at a time in a Spark session: its settings and the names of its views are one for all threads, and a
#: job starts Spark queries in its own thread too.
_LOCKS: WeakKeyDictionary[SparkSession, threading.RLock] = WeakKeyDictionary()
_NEW_LOCK = threading.Lock()


def query_settings(zone: str, scripts: Iterable[SparkScript]) -> dict[str, str]:
    """Return the settings that scripts run under; those of the state store only if one has an operator of ours."""
    scripts = tuple(scripts)
    settings = {**_ALWAYS, "spark.sql.session.timeZone": zone, **source_settings(scripts)}
    if any(isinstance(step, OperatorView) for script in scripts for step in script.steps):
        from sqlext_udfs.spark import STATE_STORE_SETTINGS

        settings |= STATE_STORE_SETTINGS
    return settings


def source_settings(scripts: Iterable[SparkScript]) -> dict[str, str]:
    """Return the settings under which Spark reads the streams of scripts.

    They stay set: Delta's source asks the session that it was made in when its first micro-batch comes.
    """
    read = (source for script in scripts for source in script.sources if source.streaming and not source.own)
    return {key: value for source in read for key, value in connector_of(source.table).stream_settings}


#: Stays set in flink mode: Spark's file source asks the session that it was made in, at every micro-batch, whether
#: `k` and `K` are two columns; the query's own copy of the settings does not reach it.
CASE_SENSITIVE = frozenset({"spark.sql.caseSensitive"})


@contextmanager
def spark_settings(spark: SparkSession, settings: Mapping[str, str], kept: Collection[str] = ()) -> Iterator[None]:
    """Set these for the block, which is this thread's alone; a streaming query keeps what it was started with."""
    with _lock_of(spark):
        before = {k: spark.conf.get(k, None) for k in settings}
        try:
            for key, value in settings.items():
                if before[key] != value:
                    spark.conf.set(key, value)
            yield
        finally:
            for key, old in before.items():
                if key in kept:
                    continue
                if old is None:
                    spark.conf.unset(key)
                elif old != settings[key]:
                    spark.conf.set(key, old)


def _lock_of(spark: SparkSession) -> threading.RLock:
    with _NEW_LOCK:
        return _LOCKS.setdefault(spark, threading.RLock())
