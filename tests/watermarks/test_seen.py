"""Watermarks as people see them, of a query that runs on Spark: SHOW WATERMARKS, EXPLAIN WHY, progress, the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.metrics import serve

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "time.md"
CLOCK = 1_704_067_335  # 2024-01-01 00:02:15
SCRIPT = """
CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE b (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/b', 'format' = 'csv', 'source.monitor-interval' = '1 s',
  'scan.watermark.idle-timeout' = '1 min');
CREATE TABLE counts (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}');
CREATE VIEW both AS SELECT k, ts FROM a UNION ALL SELECT k, ts FROM b;
SET 'sqlext.clock' = '${CLOCK}';
SET 'pipeline.name' = 'counting';
INSERT INTO counts SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE both, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""


def at(time: str) -> datetime:
    return datetime.fromisoformat(f"2024-01-01 {time}")


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[TimedRun]:
    run = TimedRun(spark, tmp_path, SCRIPT)
    run.clock(CLOCK)
    run.put("a", ["x,2024-01-01 00:00:05.000", "x,2024-01-01 00:02:10.000"])
    run.put("b", ["x,2024-01-01 00:00:07.000"])
    run.start()
    yield run
    run.stop()


@pytest.mark.slow
def test_what_is_seen_while_it_runs_elsewhere_and_afterwards(
    run: TimedRun, spark: SparkSession, tmp_path: Path
) -> None:
    run.settle()
    waiting = [
        ("counting", "a", None, at("00:02:10"), at("00:02:00"), None, False, False, 2),
        ("counting", "b", None, at("00:00:07"), datetime.fromisoformat("2023-12-31 23:59:57"), None, False, True, 1),
    ]
    shown = run.session.sql("SHOW WATERMARKS")
    assert shown.rows == waiting
    assert shown.columns[:3] == ("query name", "input", "split")
    assert [(row["input"], row["holds"]) for row in run.query.progress["inputs"]] == [("a", False), ("b", True)]
    ((text,),) = run.session.sql("EXPLAIN WHY counting").rows
    assert f"```text\n{text}\n```" in PAGE.read_text("utf-8")

    run.clock(CLOCK + 60)
    run.settle()
    idle = ("counting", "b", None, at("00:00:07"), at("00:02:00"), at("00:02:15"), False, False, 1)
    elsewhere = sqlext.connect(spark, catalog=tmp_path / "catalog")
    assert elsewhere.sql("SHOW WATERMARKS FOR QUERY counting LIKE 'c%'").rows[1] == idle
    assert "in another process" in elsewhere.sql("EXPLAIN WHY 'counting'").rows[0][0]
    unnested = """SELECT query_name, i.input_name, i.largest_event_time, i.is_held, i.holds_back, i.rows_in
        FROM information_schema.queries CROSS JOIN UNNEST(inputs) AS
        i (input_name, s, largest_event_time, watermark, idle_since, is_held, holds_back, rows_in)"""
    inputs = [("counting", "a", at("00:02:10"), False, True, 2), ("counting", "b", at("00:00:07"), False, False, 1)]
    assert sorted(elsewhere.sql(unnested).rows) == inputs

    with serve(run.session, 0) as metrics, urlopen(f"http://127.0.0.1:{metrics.port}/metrics") as answer:
        scraped = answer.read().decode()
    assert 'sqlext_input_idle{input="b",query="counting",split=""} 1.0' in scraped
    assert 'sqlext_query_rows_written_total{query="counting"} 1.0' in scraped

    run.stop()
    (part,) = elsewhere.watermarks.page("counting").parts
    states = list(dict.fromkeys(sample.inputs["b"][1] for sample in part.samples))
    assert states == ["active", "idle"]
    assert [(s.rows_in, s.rows_out) for s in part.samples][-1] == (3, 1)
    assert elsewhere.sql("SHOW WATERMARKS").rows == []
    assert sorted(elsewhere.sql(unnested).rows) == inputs
    assert "is stopped" in elsewhere.sql("EXPLAIN WHY counting").rows[0][0]
    with pytest.raises(SqlExtError) as caught:
        elsewhere.sql("EXPLAIN WHY countin")
    assert (caught.value.code, caught.value.column) == ("CAT-002", 13)
    assert caught.value.hint == "did you mean `counting`?"


@pytest.mark.slow
def test_what_comes_after_a_quiet_time_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    run = TimedRun(spark, tmp_path, SCRIPT)
    run.clock(CLOCK)
    for name in "ab":
        run.put(name, [])
    # As after ten quiet seconds: Spark reports a trigger that found nothing, under the number of the next micro-batch.
    run.start({"spark.sql.streaming.noDataProgressEventInterval": "0"})
    try:
        for minute in (1, 2):
            run.put("a", [f"x,2024-01-01 00:0{minute}:10.000"])
            run.settle()
            (_, _, _, largest, *_, rows), _ = run.session.sql("SHOW WATERMARKS").rows
            assert (largest, rows) == (at(f"00:0{minute}:10"), minute)
    finally:
        run.stop()
        spark.conf.unset("spark.sql.streaming.noDataProgressEventInterval")
