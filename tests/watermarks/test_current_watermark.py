"""CURRENT_WATERMARK on Spark: the watermark at the begin of each micro-batch, over a restart too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """SET 'sqlext.clock' = '${CLOCK}';
CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE counts (w TIMESTAMP(3), n BIGINT, met TIMESTAMP(3)) WITH ('connector' = 'delta', 'path' = '${OUT}');
CREATE VIEW on_time AS SELECT ts, CURRENT_WATERMARK(ts) AS met FROM a
WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts);
INSERT INTO counts
SELECT window_start, COUNT(*), MAX(met) FROM TABLE(TUMBLE(TABLE on_time, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""


def at(minute: int, second: int) -> str:
    """Return a row."""
    return f"x,2024-01-01 00:{minute:02}:{second:02}.000"


def rows(run: TimedRun) -> list[tuple[str, int, str | None]]:
    """Return the rows of the sink: minute, count, the watermark that the last of them met."""
    found = run.session.sql("SELECT * FROM counts /*+ OPTIONS('scan.mode' = 'snapshot') */").rows
    return sorted((w.strftime("%M"), n, met and met.strftime("%M:%S")) for w, n, met in found)


@pytest.mark.slow
def test_late_rows_are_sorted_out_below_a_window(spark: SparkSession, tmp_path: Path) -> None:
    """Row by row: also those whose window is open still, which the window itself would have taken."""
    (tmp_path / "in" / "a").mkdir(parents=True)
    run = TimedRun(spark, tmp_path, SCRIPT)
    try:
        run.clock(0)
        run.start()
        run.put("a", [at(0, 50), at(1, 15), at(0, 5)])  # no row of the first micro-batch is late
        run.settle()
        run.put("a", [at(0, 55), at(1, 5), at(1, 6), at(1, 30)])  # the watermark is 01:05
        run.settle()
        run.put("a", [at(2, 15)])
        run.settle()
        before = [("00", 2, None), ("01", 3, "01:05")]
        assert rows(run) == before
        run.stop()
        run.start()
        run.put("a", [at(2, 4), at(2, 6), at(3, 15)])  # and it is 02:05 still
        run.settle()
        assert rows(run) == [*before, ("02", 2, "02:05")]
    finally:
        run.stop()


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["spark", "arrow"])
def test_rows_keep_the_order_in_which_they_came(spark: SparkSession, tmp_path: Path, reader: str) -> None:
    """A number by processing time above it counts the rows of a file as they stand there, whatever their rowtimes."""
    minutes = [(37 * i) % 60 for i in range(60)]
    (tmp_path / "a.csv").write_text("".join(f"x,{i},2024-01-01 00:{m:02}:00.000\n" for i, m in enumerate(minutes)))
    session = sqlext.connect(spark, tmp_path / "catalog", settings={"sqlext.source": reader})
    session.sql(f"""CREATE TABLE a (k STRING, v BIGINT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/a.csv', 'format' = 'csv')""")
    stamped = "SELECT k, v, pt, CURRENT_WATERMARK(ts) AS met FROM a"
    found = session.sql(f"SELECT v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt), met FROM ({stamped})").rows
    assert sorted(found) == [(i, i + 1, None) for i in range(60)]
