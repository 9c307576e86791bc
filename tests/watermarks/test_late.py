"""Rows that come too late, or from the future: counted, kept where a table is named, and harmless."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s'%s);
CREATE TABLE late (k STRING, ts TIMESTAMP(3), `watermark` TIMESTAMP(3)) WITH (
  'connector' = 'delta', 'path' = '${OUT}/late');
CREATE TABLE out (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/out');
%s
INSERT INTO out SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""
DAY = "2024-01-01 00:"
FUTURE = "sqlext.watermark.max-future"
KEPT = "sqlext.late-rows.table"


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[TimedRun]:
    made = TimedRun(spark, tmp_path, "")
    (tmp_path / "in" / "a").mkdir(parents=True)
    yield made
    made.stop()


def shown(run: TimedRun, table: str) -> list[tuple[str, ...]]:
    """Return what lies in a table, as text, times without their day."""
    rows = run.session.sql(f"SELECT * FROM {table} /*+ OPTIONS('scan.mode' = 'snapshot') */").rows
    return sorted(tuple(str(v).removeprefix("2024-01-01 ") for v in row) for row in rows)


@pytest.mark.parametrize("by_table", [True, False])
def test_a_row_from_the_future_is_kept_and_the_job_lives(run: TimedRun, by_table: bool) -> None:
    options = {FUTURE: "1 d", KEPT: "late"}
    table = "".join(f", '{k}' = '{v}'" for k, v in options.items()) if by_table else ""
    settings = "" if by_table else "".join(f"SET '{k}' = '{v}';\n" for k, v in options.items())
    run.begin(TABLES % (table, settings))
    run.put("a", [f"x,{DAY}00:05.000", "y,2999-01-01 00:00:00.000"])
    run.settle()
    run.put("a", [f"x,{DAY}00:20.000", f"x,{DAY}01:30.000"])
    run.settle()
    run.put("a", ["z,2998-01-01 00:00:00.000", f"late,{DAY}00:59.000", f"x,{DAY}02:40.000"])
    run.settle()
    assert shown(run, "out") == [("00:00:00", "2"), ("00:01:00", "1")]
    assert shown(run, "late") == [
        ("late", "00:00:59", "00:01:20"),
        ("y", "2999-01-01 00:00:00", "None"),
        ("z", "2998-01-01 00:00:00", "00:01:20"),
    ]
    progress = run.query.progress
    assert (progress["rows_late"], progress["rows_dropped"]) == (3, 0)


def test_without_a_table_it_is_counted(run: TimedRun) -> None:
    run.begin(TABLES % (f", '{FUTURE}' = '1 d'", ""))
    run.put("a", [f"x,{DAY}00:05.000", "y,2999-01-01 00:00:00.000"])
    run.settle()
    run.put("a", [f"x,{DAY}01:30.000"])
    run.settle()
    assert shown(run, "out") == [("00:00:00", "1")]
    assert run.query.progress["rows_dropped"] == 1


def test_rows_that_cannot_be_decoded_are_kept_as_they_come(run: TimedRun) -> None:
    broken = "CREATE TABLE broken (text STRING, reason STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/broken');"
    run.begin(TABLES % (", 'sqlext.bad-rows' = 'broken'", broken))
    run.put("a", [f"x,{DAY}00:05.000", "y,tomorrow"])
    run.settle()
    assert shown(run, "broken") == [("y,tomorrow", "a value does not fit its column: ts")]
    run.put("a", ["z", f"x,{DAY}01:30.000"])
    run.settle()
    assert shown(run, "out") == [("00:00:00", "1")]
    assert shown(run, "broken")[1:] == [("z", "it has not 2 fields")]
    progress = run.query.progress
    assert (progress["rows_in"], progress["rows_bad"]) == (4, 2)
