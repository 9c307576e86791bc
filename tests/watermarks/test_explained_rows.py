"""EXPLAIN ROW of a stream: the rows that it calls in time are those that were counted, the late ones are not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from kafka_broker import make_topic

from .test_kafka_time import send
from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """SET 'sqlext.source' = '{0}';
CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ({1});
CREATE TABLE out (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/out');
INSERT INTO out SELECT k, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end;
"""
CSV = "'connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s'"
DELTA = "'connector' = 'delta', 'path' = '${IN}/a', 'scan.mode' = 'streaming'"
TOPIC = """'connector' = 'kafka', 'topic' = '{0}', 'properties.bootstrap.servers' = '{1}', 'format' = 'json',
'scan.startup.mode' = 'earliest-offset'"""
DAY = "2024-01-01 00:"
#: Seconds of the rows that come together: a file, a commit, what is sent to a topic.
PARTS = [[5], [20, 90], [59, 160], [161, 100, 200]]
READERS = pytest.mark.parametrize("reader", ["arrow", "spark"])


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[TimedRun]:
    made = TimedRun(spark, tmp_path, "")
    yield made
    made.stop()


def late_rows(run: TimedRun, script: str, put: Callable[[int, Sequence[int]], object]) -> list[tuple[object, ...]]:
    """Give the parts one after the other; return place, row, batch and watermark of the late rows.

    Of each result as many rows must be in time as were counted.
    """
    put(0, PARTS[0])
    run.begin(script)
    run.settle()
    for number, part in enumerate(PARTS[1:], 1):
        put(number, part)
        run.settle()
    counted: Counter[int] = Counter()
    late = []
    results = {}
    panes = {}
    for line in run.session.sql("EXPLAIN ROW FROM out").rows:
        number, query, table, place, row, batch, watermark, is_late, *_, held, _, text = line
        if query is None:
            results[number] = json.loads(text)["n"]
        elif table is None:
            panes[number] = held
        elif is_late:
            late.append((place, row, batch, str(watermark)))
        else:
            counted[number] += 1
    assert results == counted == panes
    assert sorted(results.values()) == [1, 2, 2]
    assert run.query.progress["rows_dropped"] == len(late)
    return sorted(late)


def text_of(second: int) -> str:
    return f"{DAY}{second // 60:02}:{second % 60:02}.000"


#: Each part is a micro-batch, and each is followed by one without rows.
BATCHES = [(4, f"{DAY}01:20"), (6, f"{DAY}02:30")]


@READERS
def test_late_rows_of_files_are_told_apart(run: TimedRun, reader: str) -> None:
    def put(_: int, seconds: Sequence[int]) -> None:
        run.put("a", [f"x,{text_of(s)}" for s in seconds])

    late = late_rows(run, SCRIPT.format(reader, CSV), put)
    files = [("0000.csv", 1), ("0003.csv", 1), ("0004.csv", 2)]
    assert late == [(*place, *batch) for place, batch in zip(files[1:], BATCHES, strict=True)]
    asked = f"k = 'x' AND w = TIMESTAMP '{DAY}03:00'"
    found = run.session.sql(f"EXPLAIN WHY NOT FROM out WHERE {asked}")
    assert [(row[3], row[4], row[7]) for row in found.rows if row[1] and row[2]] == [("0004.csv", 3, False)]
    assert [text.partition(",")[0] for text in found.notices] == [
        "No row of `out` is so.",
        f"The window ends at {DAY}04:00",
    ]


@READERS
def test_late_rows_of_a_delta_table_have_their_version(run: TimedRun, tmp_path: Path, reader: str) -> None:
    def put(_: int, seconds: Sequence[int]) -> None:
        times = [datetime.fromisoformat(text_of(s)) for s in seconds]
        rows = pa.table({"k": ["x"] * len(times), "ts": pa.array(times, pa.timestamp("us"))})
        write_deltalake(tmp_path / "in" / "a", rows, mode="append")

    late = late_rows(run, SCRIPT.format(reader, DELTA), put)
    assert [(str(place).partition(":")[0], *rest) for place, *rest in late] == [
        ("version 2", 1, *BATCHES[0]),
        ("version 3", 2, *BATCHES[1]),
    ]


@pytest.mark.kafka
@pytest.mark.slow
def test_late_rows_of_a_topic_have_their_offset(run: TimedRun, broker: str) -> None:
    """How Spark writes the offsets of a topic, ``tests/unit/jobs/test_taken_rows.py`` has."""
    name = make_topic(broker, "explained", 1)

    def put(_: int, seconds: Sequence[int]) -> None:
        send(broker, name, [(0, s) for s in seconds], "x")

    late = late_rows(run, SCRIPT.format("arrow", TOPIC.format(name, broker)), put)
    watermarks = [watermark for _, watermark in BATCHES]
    assert [(place, row, watermark) for place, row, _, watermark in late] == [
        (f"{name}-0", 3, watermarks[0]),
        (f"{name}-0", 6, watermarks[1]),
    ]
    batches = [batch for _, _, batch, _ in late]
    assert batches == sorted({int(str(batch)) for batch in batches})
