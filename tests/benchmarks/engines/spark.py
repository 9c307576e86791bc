"""Runs tasks by sqlext and by hand-written Structured Streaming, in one Spark."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import sqlext
from sqlext.spark.local import local_spark
from tests.benchmarks.engines.tasks import Taken, Task, serve

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

_SCHEMA = "k BIGINT, v INT, ts TIMESTAMP"


def by_sqlext(spark: SparkSession, task: Task) -> Taken:
    """Run a script as it is."""
    began = time.perf_counter()
    session = sqlext.connect(_session(spark), catalog=f"{task['out']}.catalog")
    results = session.run(task["script"])
    queries = [r.query for r in results if r.query is not None]
    return Taken(sum(float(q.progress["busy_ms"]) for q in queries) / 1000, time.perf_counter() - began)


def by_hand(spark: SparkSession, task: Task) -> Taken:
    """Run a question of the window set."""
    began = time.perf_counter()
    source = _stream(_session(spark), task).withWatermark("ts", "5 seconds")
    writer = (
        BY_HAND[task["name"]](source).writeStream.format("json").option("timestampFormat", "yyyy-MM-dd HH:mm:ss.SSS")
    )
    writer = writer.option("checkpointLocation", f"{task['out']}.checkpoint").trigger(availableNow=True)
    query: StreamingQuery = writer.start(f"{task['out']}/result")
    query.awaitTermination()
    busy = sum(p.durationMs["triggerExecution"] for p in query.recentProgress) / 1000
    return Taken(busy, time.perf_counter() - began)


def _session(spark: SparkSession) -> SparkSession:
    """Return a session of its own, with the jars that the process is given."""
    session = spark.newSession()
    for jar in sys.argv[1:]:
        session.sql(f"ADD JAR '{jar}'")
    return session


def _stream(spark: SparkSession, task: Task) -> DataFrame:
    if task["form"] == "delta":
        return spark.readStream.format("delta").load(task["source"])
    if task["form"] != "kafka":
        return spark.readStream.schema(_SCHEMA).format(task["form"]).load(task["source"])
    broker, topic = task["source"].split("/")
    options = {"kafka.bootstrap.servers": broker, "subscribe": topic, "startingOffsets": "earliest"}
    records = spark.readStream.format("kafka").options(**options).load()
    return records.select(F.from_json(F.col("value").cast("string"), _SCHEMA).alias("row")).select("row.*")


def _window(window: str) -> Callable[[DataFrame], DataFrame]:
    def asked(frame: DataFrame) -> DataFrame:
        groups = frame.groupBy(F.expr(window).alias("w"), "k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
        return groups.select(
            "k", F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end"), "n", "total"
        )

    return asked


def _interval_join(frame: DataFrame) -> DataFrame:
    left = frame.select("k", F.col("v").alias("v1"), F.col("ts").alias("ts1"))
    right = frame.select(F.col("k").alias("k2"), F.col("v").alias("v2"), F.col("ts").alias("ts2"))
    near = F.expr("k = k2 AND ts2 >= ts1 AND ts2 <= ts1 + INTERVAL '0.2' SECOND")
    return left.join(right, near).select("k", "ts1", "v1", "v2")


#: What Spark can say of the window set. CUMULATE and a Top-N of windows are not among it.
BY_HAND: dict[str, Callable[[DataFrame], DataFrame]] = {
    "TUMBLE": _window("window(ts, '10 seconds')"),
    "HOP": _window("window(ts, '10 seconds', '2 seconds')"),
    "SESSION": _window("session_window(ts, '1 second')"),
    "INTERVAL JOIN": _interval_join,
}


def main() -> None:
    """Serve."""
    with tempfile.TemporaryDirectory() as folder:
        spark = local_spark(cores=2, folder=Path(folder))
        serve(lambda task: (by_hand if task["side"] == "spark" else by_sqlext)(spark, task))
        spark.stop()


if __name__ == "__main__":
    main()
