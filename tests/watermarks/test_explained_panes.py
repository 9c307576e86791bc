"""EXPLAIN ROW of runs of Spark: the panes that it tells are those that came out, with a restart in between."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """SET 'sqlext.source' = '{0}'; SET 'sqlext.clock' = '${{CLOCK}}'; SET 'sqlext.state.buckets' = '1';
CREATE TABLE a (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE out (k STRING, w TIMESTAMP(3), n BIGINT, pane INT, timing STRING)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/out');
INSERT INTO out SELECT k, window_start, COUNT(*), PANE_INDEX(), PANE_TIMING()
FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end {1};"""
#: Rows that come together: key, number, second; the clock moves on by 4 s before each.
PARTS = [
    [("x", 1, 5), ("y", 2, 6)],
    [("x", 4, 20), ("x", 1, 40), ("y", 9, 90)],
    [("x", 3, 59), ("x", 1, 100)],
    [("x", 2, 30), ("y", 1, 160)],
    [("x", 5, 161), ("y", 3, 20), ("z", 1, 300)],
]
EMITS = [
    "",
    "EMIT AFTER WATERMARK EARLY EVERY 2 ROWS",
    "EMIT AFTER WATERMARK EARLY EVERY 3s",
    "EMIT AFTER WATERMARK EARLY EVERY ROW LATE EVERY ROW ALLOW LATENESS 2m",
    "EMIT AFTER WATERMARK WITH DELAY 20s AND TIMEOUT 10s",
    "EMIT ON WINDOW CLOSE ALLOW LATENESS 1m",
    "EMIT AFTER IDLE 4s DISCARDING",
    "EMIT EVERY 20s OF EVENT TIME",
    "EMIT WHEN (SUM(n) > 5)",
    "EMIT CHANGES",
    "EMIT EVERY 5s REPEAT",
    "EMIT EVERY 3 ROWS OR EVERY 5s DISCARDING",
    "EMIT FILL FOR 2m",
    "EMIT ONCE AFTER 2 ROWS",
]


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[TimedRun]:
    made = TimedRun(spark, tmp_path, "")
    yield made
    made.stop()


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("reader", ["arrow", "spark"])
@pytest.mark.parametrize("emit", EMITS)
def test_the_panes_that_are_told_are_those_that_came_out(run: TimedRun, tmp_path: Path, reader: str, emit: str) -> None:
    for number, part in enumerate(PARTS):
        run.put("a", [f"{k},{n},2024-01-01 00:{s // 60:02}:{s % 60:02}.000" for k, n, s in part])
        if number:
            run.settle()
            run.clock(4 * (number + 1))
            run.settle()
        else:
            run.begin(SCRIPT.format(reader, emit))
            run.settle()
        if number == 2:
            run.stop()
            run.start()
            run.settle()
    for seconds in (60, 90):
        run.clock(seconds)
        run.settle()
    run.stop()
    came = defaultdict(set)
    for row in DeltaTable(str(tmp_path / "out" / "out")).to_pyarrow_table().to_pylist():
        came[row["k"], f"{row['w']:%Y-%m-%d %H:%M:%S}"].add((row["pane"], row["timing"], row["n"]))
    assert len(came) > 5
    for (key, window), panes in came.items():
        asked = f"EXPLAIN ROW FROM out WHERE k = '{key}' AND w = TIMESTAMP '{window}'"
        lines = [line for line in run.session.sql(asked).rows if line[0] == 1 and line[9] is not None]
        told = {(line[8], json.loads(line[-1]).get("timing"), line[11]) for line in lines}
        assert told == panes, (key, window)
