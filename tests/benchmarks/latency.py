"""From a row's arrival in Kafka to its window's update in a table: latency, and what a micro-batch costs in parts.

python -m tests.benchmarks.latency [--rate 10000] [--seconds 150] [--keys 1000] [--trigger 1000] [--sinks NAME ...]
    [--engine spark|local]

A producer sends rows of json at a steady rate into two partitions; windows of ten seconds are updated with each
micro-batch. A row has arrived when it is given to the producer, and is through when the micro-batch that reads it has
ended, its result committed. The first half of the time warms up and does not count. Prints milliseconds: the median
and the 99th percentile over rows; then the medians over micro-batches, by Spark's names for their parts. ``blackhole``
is what the operator costs, ``append`` adds each pane to a Delta table, ``merge`` keeps one row of a window there. Spark
commits all batches of ``append-by-spark`` and ``merge-by-spark``, the driver those of the others. With ``--engine
local`` no Spark is there: this process runs the query (``sqlext.jobs.local``).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import sqlext
from sqlext.spark.local import local_spark
from tests.kafka_broker import fetch_spark_connector, kafka_broker, make_topic

_PARTITIONS = 2
_TICK = 0.01
_TABLES = """
CREATE TABLE src (k BIGINT, v INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE out (k BIGINT, window_start TIMESTAMP(3), {pane_column}n BIGINT, total BIGINT{key}) WITH ({sink});
SET 'pipeline.name' = '{topic}';
SET 'sqlext.sink.local-rows' = '{rows}';
SET 'sqlext.engine' = '{engine}';
INSERT INTO out SELECT k, window_start, {pane}COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 1s;
"""
_KEY = ", PRIMARY KEY (k, window_start) NOT ENFORCED"


class Sink(NamedTuple):
    """Where results go.

    Attributes:
        options: of the table.
        panes: whether each update is a row of its own (a pane), or the window's new row.
        rows: up to how many rows of a batch the driver commits.
    """

    options: str
    panes: bool
    rows: int = 10_000


SINKS = {
    "blackhole": Sink("'connector' = 'blackhole'", panes=True),
    "append": Sink("'connector' = 'delta', 'path' = '{out}'", panes=True),
    "merge": Sink("'connector' = 'delta', 'path' = '{out}'", panes=False),
    "append-by-spark": Sink("'connector' = 'delta', 'path' = '{out}'", panes=True, rows=0),
    "merge-by-spark": Sink("'connector' = 'delta', 'path' = '{out}'", panes=False, rows=0),
}


class Sender:
    """Sends rows at a steady rate, from a process of its own: it would keep the driver's Python from working."""

    def __init__(self, broker: str, topic: str, rate: int, keys: int) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._stopped, (self._answer, given) = spawning.Event(), spawning.Pipe(duplex=False)
        arguments = (broker, topic, rate, keys, self._stopped, given)
        self._process = spawning.Process(target=send, args=arguments, daemon=True)
        self._process.start()

    def stop(self) -> list[list[float]]:
        """Send no more; return of each partition when its rows were sent (seconds since 1970), by their offsets."""
        self._stopped.set()
        arrived: list[list[float]] = self._answer.recv()
        self._process.join()
        return arrived


def send(broker: str, topic: str, rate: int, keys: int, stopped: Event, answer: Connection) -> None:
    """Send rows until it is time to stop, then say when each was sent."""
    producer = Producer({"bootstrap.servers": broker, "linger.ms": "5"})
    arrived: list[list[float]] = [[] for _ in range(_PARTITIONS)]
    began, sent = time.time(), 0
    while not stopped.wait(_TICK):
        now = time.time()
        text = f"{datetime.fromtimestamp(now, timezone.utc):%Y-%m-%d %H:%M:%S.%f}"[:-3] + "Z"
        for number in range(sent, int((now - began) * rate)):
            value = f'{{"k":{number * 7919 % keys},"v":{number % 97},"ts":"{text}"}}'
            producer.produce(topic, value, partition=number % _PARTITIONS)
            arrived[number % _PARTITIONS].append(now)
            sent += 1
        producer.poll(0)
    producer.flush()
    answer.send(arrived)


class Batch(NamedTuple):
    """A micro-batch.

    Attributes:
        ended: when it had ended, in seconds since 1970.
        ends: up to which offset it has read each partition.
        parts: milliseconds in its parts.
    """

    ended: float
    ends: list[int]
    parts: dict[str, int]


def measured(spark: SparkSession | None, root: Path, broker: str, name: str, given: argparse.Namespace) -> None:
    """Run one sink and print."""
    sink, topic = SINKS[name], make_topic(broker, f"rows-{name}", _PARTITIONS)
    session = spark.newSession() if spark is not None else None
    for jar in fetch_spark_connector() if session is not None else ():
        session.sql(f"ADD JAR '{jar}'")
    options = sink.options.format(out=root / name)
    pane = {"pane_column": "pane BIGINT, ", "pane": "PANE_INDEX(), ", "key": ""}
    kept = {"pane_column": "", "pane": "", "key": _KEY}
    told = {"rows": sink.rows, "engine": given.engine, **(pane if sink.panes else kept)}
    script = _TABLES.format(topic=topic, broker=broker, sink=options, **told)
    done: list[Batch] = []
    if session is None:
        note_batches(done)
    sender = Sender(broker, topic, given.rate, given.keys)
    connected = sqlext.connect(session, catalog=str(root / f"{name}-catalog"))
    query = connected.run(script, trigger_interval=given.trigger)[-1].query
    assert query is not None
    time.sleep(given.seconds)
    arrived = sender.stop()
    if session is not None:
        (running,) = query.running.values()
        done = [_of_spark(p) for p in running.recentProgress if p.numInputRows]
    query.stop()
    _print(name, done[len(done) // 2 :], arrived)


def note_batches(done: list[Batch]) -> None:
    """Note each micro-batch of this process, as its place is noted."""
    from sqlext.jobs.local import running

    count, places = running.LocalStream._count, []

    def noted(stream: Any, moment: Any, taken: Any, rows: Any, spent: Any, dropped: int) -> None:
        count(stream, moment, taken, rows, spent, dropped)
        ((_, place),) = moment.places.items()
        if place not in places:  # one without rows
            places.append(place)
            done.append(Batch(time.time(), _by_partition(place), {**spent.parts, "all": sum(spent.parts.values())}))

    running.LocalStream._count = noted  # type: ignore[method-assign]


def _print(name: str, batches: list[Batch], arrived: list[list[float]]) -> None:
    latencies, before = [], batches[0].ends
    for batch in batches[1:]:
        for partition, times in enumerate(arrived):
            rows = np.array(times[before[partition] : batch.ends[partition]])
            latencies.append((batch.ended - rows) * 1000)
        before = batch.ends
    p50, p99 = np.percentile(np.concatenate(latencies), [50, 99])
    parts = {k: median(b.parts.get(k, 0) for b in batches) for k in batches[0].parts}
    shown = ", ".join(f"{k} {v:.0f}" for k, v in parts.items())
    print(f"{name:15} p50 {p50:5.0f} ms, p99 {p99:5.0f} ms; {len(batches)} micro-batches: {shown}", flush=True)


def _of_spark(report: Any) -> Batch:
    began = datetime.fromisoformat(report.timestamp.replace("Z", "+00:00")).timestamp()
    ends = next(json.loads(s.endOffset) for s in report.sources if "rows-" in s.endOffset)
    return Batch(began + report.durationMs["triggerExecution"] / 1000, _by_partition(ends), dict(report.durationMs))


def _by_partition(ends: Mapping[str, int]) -> list[int]:
    return [next(n for split, n in ends.items() if split.endswith(f"-{p}")) for p in range(_PARTITIONS)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=150)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--trigger", type=int, default=1_000)
    parser.add_argument("--sinks", nargs="*", default=list(SINKS))
    parser.add_argument("--engine", choices=("spark", "local"), default="spark")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "broker").mkdir()
        spark = local_spark(cores=2, folder=root / "spark") if given.engine == "spark" else None
        with kafka_broker(root / "broker") as broker:
            for name in given.sinks:
                measured(spark, root, broker, name, given)
        if spark is not None:
            spark.stop()


if __name__ == "__main__":
    main()
