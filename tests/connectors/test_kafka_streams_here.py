"""Topics that this process reads without an end: partitions with times of their own, restarts, what comes late."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable
from kafka_broker import make_topic

import sqlext
from sqlext.connectors.splits import Slice
from sqlext.jobs.query import Query
from sqlext.local.shared_streams import SharedStream, SliceRows

pytestmark = [pytest.mark.kafka]

_SCRIPT = """
SET 'sqlext.engine' = 'local';
CREATE TABLE events (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset'{more});
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""

_TOTALS = """
CREATE TABLE totals (p INT, s BIGINT) WITH ('connector' = 'delta', 'path' = '{out}-totals');
EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT CAST(v AS INT), v FROM events WHERE v > 2;
INSERT"""


class Topic:
    """A topic of two partitions, and a query over it."""

    def __init__(self, broker: str, root: Path, name: str) -> None:
        self.broker, self.root = broker, root
        self.topic = make_topic(broker, f"{name}-{time.time_ns()}", 2)

    def send(self, partition: int, *rows: tuple[str, int, int]) -> None:
        producer = Producer({"bootstrap.servers": self.broker})
        for k, v, s in rows:
            value = json.dumps({"k": k, "v": v, "ts": f"2024-01-01 00:00:{s:02}"})
            producer.produce(self.topic, value, partition=partition)
        producer.flush()

    def start(self, more: str = "", script: str = _SCRIPT) -> Query:
        out = self.root / "out"
        script = script.format(topic=self.topic, broker=self.broker, out=out, more=more)
        query = sqlext.connect(catalog=str(self.root / "catalog")).run(script, trigger_interval=1)[-1].query
        assert query is not None
        return query

    def counts(self) -> list[tuple[str, int, int, int]]:
        rows = DeltaTable(str(self.root / "out")).to_pyarrow_table().to_pylist()
        return sorted((r["k"], (r["w"] - datetime(2024, 1, 1)).seconds, r["n"], r["s"]) for r in rows)


def test_each_partition_has_a_time_of_its_own(broker: str, tmp_path: Path) -> None:
    topic = Topic(broker, tmp_path, "own-times")
    topic.send(0, ("a", 1, 1), ("a", 2, 25))
    query = topic.start()
    query.process_available()
    # One that has given no row yet holds the others back.
    topic.send(1, ("a", 3, 2))
    query.process_available()
    before = topic.counts()
    # A partition that is behind the other one has no late rows.
    topic.send(1, ("a", 4, 3), ("a", 5, 14))
    query.process_available()
    query.stop()
    assert before == []
    assert topic.counts() == [("a", 0, 3, 8)]
    assert query.progress["rows_dropped"] == 0


def test_a_silent_partition_is_idle(broker: str, tmp_path: Path) -> None:
    topic = Topic(broker, tmp_path, "idle")
    topic.send(1, ("a", 3, 2))
    query = topic.start(", 'scan.watermark.idle-timeout' = '300 ms'")
    query.process_available()
    deadline = time.monotonic() + 30
    second = 11
    # The other partition goes on for longer than the timeout.
    while not (found := topic.counts()) and time.monotonic() < deadline:
        topic.send(0, ("b", 1, second))
        second = min(second + 1, 59)
        query.process_available()
    query.stop()
    assert ("a", 0, 1, 3) in found


def test_a_restart_reads_on(broker: str, tmp_path: Path) -> None:
    topic = Topic(broker, tmp_path, "restart")
    for number in range(4):
        topic.send(number % 2, ("a", 1, number))
        query = topic.start()
        query.process_available()
        query.stop()
        assert query.progress["rows_in"] == 1
    topic.send(0, ("b", 0, 30))
    topic.send(1, ("b", 0, 30))
    query = topic.start()
    query.process_available()
    query.stop()
    assert topic.counts() == [("a", 0, 4, 4)]


def test_many_rows_come_in_pieces(broker: str, tmp_path: Path) -> None:
    topic = Topic(broker, tmp_path, "limit")
    topic.send(0, *(("a", 1, 1) for _ in range(300)))
    topic.send(1, *(("a", 1, 1) for _ in range(200)), ("a", 0, 40))
    query = topic.start(", 'maxOffsetsPerTrigger' = '100'")
    query.process_available()
    topic.send(0, ("a", 0, 40))
    query.process_available()
    query.stop()
    assert query.progress["batch"] >= 5
    assert topic.counts() == [("a", 0, 500, 500)]


def test_a_set_reads_the_topic_once(broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, found = SharedStream._read, []

    def noted(shared: SharedStream, pieces: Sequence[Slice]) -> Sequence[SliceRows]:
        rows = read(shared, pieces)
        found.append(sum(batch.num_rows for each in rows for batch in each.batches))
        return rows

    monkeypatch.setattr(SharedStream, "_read", noted)
    topic = Topic(broker, tmp_path, "shared")
    topic.send(0, ("a", 1, 1), ("a", 2, 25))
    topic.send(1, ("a", 3, 2), ("a", 4, 25))
    both = _SCRIPT.replace("\nINSERT", _TOTALS) + "END;"
    for more in ((), (("b", 5, 26), ("b", 6, 40))):
        for partition in (0, 1):
            topic.send(partition, *more)
        query = topic.start(script=both)
        query.process_available()
        query.stop()
    assert sum(found) == 8
    assert topic.counts() == [("a", 0, 2, 4), ("a", 20, 2, 6), ("b", 20, 2, 10)]
    totals = DeltaTable(str(tmp_path / "out-totals")).to_pyarrow_table().column("s").to_pylist()
    assert sorted(totals) == [3, 4, 5, 5, 6, 6]
