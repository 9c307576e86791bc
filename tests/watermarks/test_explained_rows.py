"""EXPLAIN ROW of a stream: the rows that it calls in time are those that were counted, the late ones are not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """SET 'sqlext.source' = '{0}';
CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${{IN}}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE out (k STRING, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/out');
INSERT INTO out SELECT k, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end;
"""
DAY = "2024-01-01 00:"
FILES = [
    [f"x,{DAY}00:05.000"],
    [f"x,{DAY}00:20.000", f"x,{DAY}01:30.000"],
    [f"x,{DAY}00:59.000", f"x,{DAY}02:40.000"],
    [f"x,{DAY}02:41.000", f"x,{DAY}01:40.000", f"x,{DAY}03:20.000"],
]


@pytest.fixture(params=["arrow", "spark"])
def run(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[TimedRun]:
    made = TimedRun(spark, tmp_path, SCRIPT.format(request.param))
    (tmp_path / "in" / "a").mkdir(parents=True)
    yield made
    made.stop()


def test_late_rows_are_told_apart(run: TimedRun) -> None:
    run.start()
    for lines in FILES:
        run.put("a", lines)
        run.settle()
    counted: Counter[int] = Counter()
    late = []
    results = {}
    for number, query, _, place, row, batch, watermark, is_late, text in run.session.sql("EXPLAIN ROW FROM out").rows:
        if query is None:
            results[number] = json.loads(text)["n"]
        elif is_late:
            late.append((place, row, batch, str(watermark)))
        else:
            counted[number] += 1
    assert results == counted
    assert sorted(results.values()) == [1, 2, 2]
    # Each file is a micro-batch, and each is followed by one without rows.
    assert sorted(late) == [("0002.csv", 1, 4, f"{DAY}01:20"), ("0003.csv", 2, 6, f"{DAY}02:30")]
    assert run.query.progress["rows_dropped"] == len(late)
    asked = f"k = 'x' AND w = TIMESTAMP '{DAY}03:00'"
    found = run.session.sql(f"EXPLAIN WHY NOT FROM out WHERE {asked}")
    assert [(row[3], row[4], row[7]) for row in found.rows if row[1]] == [("0003.csv", 3, False)]
    assert [text.partition(",")[0] for text in found.notices] == [
        "No row of `out` is so.",
        f"The window ends at {DAY}04:00",
    ]
