"""The time of Kafka's partitions on Spark, with a real broker: silent ones, slow ones, ones that run ahead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from kafka_broker import make_topic

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

START = datetime(2024, 1, 1)
TABLE = """CREATE TABLE {name} (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}', 'format' = 'json'{options});
"""
#: Rows of a topic, three a minute.
ROWS = 100
CLOCK = "SET 'sqlext.clock' = '${CLOCK}';\n"
COUNTS = """SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""


def send(broker: str, name: str, rows: Iterable[tuple[int, float]], key: str = "k") -> None:
    """Send rows to partitions; times in seconds since the start."""
    producer = Producer({"bootstrap.servers": broker})
    for partition, seconds in rows:
        ts = (START + timedelta(seconds=seconds)).isoformat(" ", "milliseconds")
        producer.produce(name, f'{{"k": "{key}", "ts": "{ts}"}}', partition=partition)
    assert producer.flush(30) == 0


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[TimedRun]:
    made = TimedRun(spark, tmp_path, "")
    yield made
    made.stop()


def test_one_silent_partition_of_eight_does_not_stop_the_job(run: TimedRun, broker: str) -> None:
    name = make_topic(broker, "time-silent", 8)
    table = TABLE.format(name="a", topic=name, broker=broker, options=", 'scan.watermark.idle-timeout' = '1 min'")
    run.begin(table + CLOCK + COUNTS)
    send(broker, name, [(p, 5) for p in range(8)])
    run.settle()
    send(broker, name, [(p, 75 + p) for p in range(7)])  # nothing of partition 7
    run.settle()
    assert run.rows == []
    run.clock(60)
    send(broker, name, [(p, 80) for p in range(7)])  # the others are not silent
    run.settle()
    assert run.rows == [(START, 8)]
    assert run.silent("a") == [f"{name}-7"]
    send(broker, name, [(7, 66), (7, 30)])  # it wakes: one row in time, one too late
    run.settle()
    send(broker, name, [(p, 140) for p in range(8)])
    run.settle()
    assert run.rows == [(START, 8), (START + timedelta(minutes=1), 15)]
    assert run.query.progress["rows_dropped"] == 1


def test_a_slow_partition_loses_nothing(run: TimedRun, broker: str) -> None:
    name = make_topic(broker, "time-slow", 2)
    run.begin(TABLE.format(name="a", topic=name, broker=broker, options="") + CLOCK + COUNTS)
    send(broker, name, [(0, 600), (1, 1)])
    run.settle()
    send(broker, name, [(0, 1200), (1, 30)])
    run.settle()
    send(broker, name, [(1, 80)])
    run.settle()
    assert run.rows == [(START, 2)]
    assert run.query.progress["rows_dropped"] == 0


JOIN = """SELECT a.k, b.k FROM a JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '1' SECOND AND b.ts;
"""


def read_and_kept(run: TimedRun, broker: str, names: tuple[str, str], options: str) -> tuple[int, int]:
    """Join two topics, the second an hour ahead, until nothing moves; return the rows read and those in state then."""
    tables = "".join(
        TABLE.format(name=n, topic=t, broker=broker, options=options) for n, t in zip("ab", names, strict=True)
    )
    run.begin("SET 'sqlext.unbounded-state' = 'allow';\n" + tables + CLOCK + JOIN)
    before = -1
    while before != (read := run.query.progress["rows_in"]):
        before = read
        run.settle()
    return read, run.query.progress["state_rows"]


def test_a_topic_that_is_an_hour_ahead_waits_at_the_source(spark: SparkSession, tmp_path: Path, broker: str) -> None:
    names = make_topic(broker, "time-behind", 1), make_topic(broker, "time-ahead", 1)
    send(broker, names[0], [(0, 20.0 * i) for i in range(ROWS)])
    send(broker, names[1], [(0, 3600 + 20.0 * i) for i in range(ROWS)])
    limit = ", 'maxOffsetsPerTrigger' = '20'"
    aligned = limit + ", 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '5 min'"
    found = []
    for number, options in enumerate((aligned, limit)):
        run = TimedRun(spark, tmp_path / str(number), "")
        try:
            found.append(read_and_kept(run, broker, names, options + ", 'scan.watermark.idle-timeout' = '30 s'"))
            run.clock(60)  # the slower one is idle now and holds nobody back
            run.settle()
            assert run.query.progress["rows_in"] == 2 * ROWS
        finally:
            run.stop()
    (read, kept), free = found
    ahead = 5 * 3 + 20  # five minutes at three rows a minute, and one micro-batch
    assert ROWS < read <= ROWS + ahead
    # How many rows of the slower topic are in state depends on when a heartbeat arrives. At rest they are gone.
    assert kept <= ahead
    assert free[0] == 2 * ROWS
    assert free[1] >= ROWS
