"""Idle inputs on Spark: they hold nobody back, wake up without loss, and keep their place over a restart."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """CREATE TABLE {name} (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${{IN}}/{name}', 'format' = 'csv', 'source.monitor-interval' = '1 s'{options});
"""
COUNTS = """SET 'sqlext.clock' = '${CLOCK}';
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE both, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""
BOTH = "CREATE VIEW both AS SELECT k, ts FROM a UNION ALL SELECT k, ts FROM b;\n"
IDLE = ", 'scan.watermark.idle-timeout' = '1 min'"


def script(*options: str) -> str:
    """Return a count per minute over one table, or over the union of two."""
    tables = "".join(TABLE.format(name=n, options=o) for n, o in zip("ab", options, strict=False))
    return tables + (BOTH if len(options) == 2 else "CREATE VIEW both AS SELECT k, ts FROM a;\n") + COUNTS


def at(seconds: int) -> str:
    """Return a row."""
    return f"x,2024-01-01 {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000"


def commit(folder: Path, table: str, lines: list[str]) -> None:
    """Give a Delta table rows, in one commit."""
    keys, times = zip(*(line.split(",") for line in lines), strict=True)
    instants = pa.array([datetime.fromisoformat(time) for time in times], pa.timestamp("us"))
    write_deltalake(str(folder / "in" / table), pa.table({"k": keys, "ts": instants}), mode="append")


def counts(run: TimedRun) -> dict[str, int]:
    """Return the counts by minute."""
    return {start.strftime("%H:%M"): n for start, n in run.rows}


@pytest.fixture
def timed(spark: SparkSession, tmp_path: Path) -> Iterator[list[TimedRun]]:
    runs: list[TimedRun] = []
    yield runs
    for run in runs:
        run.stop()


def started(runs: list[TimedRun], spark: SparkSession, folder: Path, text: str, *names: str) -> TimedRun:
    run = TimedRun(spark, folder, text)
    runs.append(run)
    for name in names:
        (folder / "in" / name).mkdir(parents=True, exist_ok=True)
    run.clock(0)
    run.start()
    return run


def test_an_idle_input_holds_nobody_back_and_wakes_up(
    spark: SparkSession, tmp_path: Path, timed: list[TimedRun]
) -> None:
    run = started(timed, spark, tmp_path, script("", IDLE), "a", "b")
    run.put("a", [at(5), at(65), at(130)])
    run.put("b", [at(7)])
    run.settle()
    assert counts(run) == {}
    run.clock(59)
    run.settle()
    assert counts(run) == {}
    run.clock(60)
    run.settle()
    assert counts(run) == {"00:00": 2, "00:01": 1}
    run.put("b", [at(110), at(125)])  # the first is late: its window is closed
    run.put("a", [at(200)])
    run.settle()
    assert counts(run) == {"00:00": 2, "00:01": 1}  # b counts again: it is at 02:05 - 10 s
    assert run.query.progress["rows_dropped"] == 1
    run.put("b", [at(195)])
    run.settle()
    assert counts(run) == {"00:00": 2, "00:01": 1, "00:02": 2}


def test_a_restart_keeps_the_place(spark: SparkSession, tmp_path: Path, timed: list[TimedRun]) -> None:
    text = script("", IDLE).replace("SELECT window_start,", "INSERT INTO out SELECT window_start,")
    sink = "CREATE TABLE out (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}');\n"
    run = started(timed, spark, tmp_path, sink + text, "a", "b")
    run.put("a", [at(5), at(65)])
    run.settle()
    run.clock(60)
    run.settle()
    run.stop()
    run.start()
    run.put("a", [at(130)])
    run.settle()  # b is idle still: no minute more is waited for it
    rows = run.session.sql("SELECT w, n FROM out /*+ OPTIONS('scan.mode' = 'snapshot') */").rows
    assert sorted((w.strftime("%H:%M"), n) for w, n in rows) == [("00:00", 1), ("00:01", 1)]


def test_the_clock_closes_the_windows_of_a_silent_source(
    spark: SparkSession, tmp_path: Path, timed: list[TimedRun]
) -> None:
    closing = IDLE + ", 'sqlext.idle.close-windows' = 'true'"
    run = started(timed, spark, tmp_path, script(closing), "a")
    start = 1_704_067_200  # 2024-01-01
    run.clock(start)
    run.put("a", [at(5), at(50)])
    run.settle()
    run.clock(start + 119)
    run.settle()
    assert counts(run) == {}
    run.clock(start + 120)
    run.settle()
    assert counts(run) == {"00:00": 2}
    run.put("a", [at(40), at(70)])
    run.settle()
    assert counts(run) == {"00:00": 2}  # nothing is closed twice
    assert run.query.progress["rows_dropped"] == 1


NAMES = """CREATE TABLE names (k STRING) WITH ('connector' = 'filesystem', 'path' = '${IN}/names', 'format' = 'csv',
  'source.monitor-interval' = '1 s');
"""
FILLED = """SET 'sqlext.clock' = '${{CLOCK}}';
SELECT k, window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end EMIT FILL FOR {};
"""


@pytest.mark.parametrize(("fill", "keys", "minutes"), [("2m", "x", 3), ("EACH KEY OF names", "xy", 5)])
def test_the_clock_gives_the_windows_without_rows_of_a_silent_source(
    spark: SparkSession, tmp_path: Path, timed: list[TimedRun], fill: str, keys: str, minutes: int
) -> None:
    table = TABLE.format(name="a", options=IDLE + ", 'sqlext.idle.close-windows' = 'true'")
    run = started(timed, spark, tmp_path, table + NAMES + FILLED.format(fill), "a", "names")
    start = 1_704_067_200  # 2024-01-01
    run.clock(start)
    run.put("names", ["x", "y"])
    run.put("a", [at(5), at(50)])
    run.settle()
    assert run.rows == []
    for minute in range(5):
        # A minute behind the end of the window, and a second before that.
        for early, there in ((1, minute), (0, minute + 1)):
            run.clock(start + 60 * (minute + 2) - early)
            run.settle()
            expected = [(k, m, 2 if m == 0 and k == "x" else 0) for k in keys for m in range(min(there, minutes))]
            assert [(k, w.minute, n) for k, w, n in run.rows] == expected


def test_a_bounded_input_beside_an_endless_one_holds_nobody_back(
    spark: SparkSession, tmp_path: Path, timed: list[TimedRun]
) -> None:
    text = script("", "").replace(
        "'path' = '${IN}/b', 'format' = 'csv', 'source.monitor-interval' = '1 s'",
        "'path' = '${IN}/b', 'format' = 'csv'",
    )
    run = TimedRun(spark, tmp_path, text)
    timed.append(run)
    run.put("b", [at(3)])
    run.put("a", [at(5), at(75)])
    run.clock(0)
    run.start()
    run.settle()
    assert counts(run) == {"00:00": 2}


def test_all_tables_by_set_and_a_periodic_watermark(spark: SparkSession, tmp_path: Path, timed: list[TimedRun]) -> None:
    settings = "SET 'table.exec.source.idle-timeout' = '1 min';\nSET 'pipeline.auto-watermark-interval' = '10 s';\n"
    run = started(timed, spark, tmp_path, settings + script("", ""), "a", "b")
    run.put("a", [at(5), at(75)])
    run.settle()
    run.clock(60)
    run.settle()
    assert counts(run) == {"00:00": 1}
    run.put("a", [at(140)])
    run.put("b", [at(140)])
    run.settle()
    assert counts(run) == {"00:00": 1}  # ten seconds are not over
    run.clock(70)
    run.settle()
    assert counts(run) == {"00:00": 1, "00:01": 1}


@pytest.mark.parametrize("connector", ["filesystem", "delta"])
def test_files_that_are_an_hour_ahead_wait_at_the_source(
    spark: SparkSession, tmp_path: Path, timed: list[TimedRun], connector: str
) -> None:
    aligned = ", 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '5 min'"
    text = script(aligned + IDLE, aligned + IDLE)
    if connector == "delta":
        text = text.replace("'filesystem'", "'delta'").replace("'format' = 'csv', ", "")
    run = TimedRun(spark, tmp_path, text)
    timed.append(run)
    put = run.put if connector == "filesystem" else partial(commit, tmp_path)
    for minute in range(3):
        put("a", [at(60 * minute)])
        put("b", [at(3600 + 60 * minute), at(3601 + 60 * minute)])
    run.clock(0)
    run.start()
    run.settle()
    assert run.query.progress["rows_in"] == 3 + 2  # of the one ahead its first file alone
    run.clock(60)
    run.settle()
    assert run.query.progress["rows_in"] == 3 + 6
    assert counts(run) == {"00:00": 1, "00:01": 1, "00:02": 1, "01:00": 2}
