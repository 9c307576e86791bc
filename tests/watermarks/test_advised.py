"""What ANALYZE WATERMARK foretells, against what a real query drops of the same rows."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlext.jobs.recording import LateRowsNotice

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s',
  'maxFilesPerTrigger' = '1');
-- PANE_TIMING needs our operator, which counts rows. Spark's own counts groups after partial aggregation.
SELECT k, window_start, COUNT(*) AS n, PANE_TIMING() AS timing
FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK;
"""
START = datetime(2024, 1, 1)
FILES, ROWS = 8, 40


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[TimedRun]:
    made = TimedRun(spark, tmp_path, SCRIPT)
    (tmp_path / "in" / "a").mkdir(parents=True)
    yield made
    made.stop()


def files() -> Iterator[list[str]]:
    """Yield the lines of each file: half a minute of rows, of which some come minutes late."""
    chance = random.Random(7)
    for file in range(FILES):
        seconds = (30 * file + chance.random() * 30 - chance.expovariate(1 / 40) for _ in range(ROWS))
        times = (START + timedelta(seconds=s) for s in seconds)
        yield [f"{chance.choice('xyz')},{t.isoformat(' ', 'milliseconds')}" for t in times]


@pytest.mark.parametrize("rests", [False, pytest.param(True, marks=pytest.mark.costly)])
def test_the_loss_is_the_one_of_a_run(
    run: TimedRun, tmp_path: Path, rests: bool, recwarn: pytest.WarningsRecorder
) -> None:
    if rests:
        run.start()
    for number, lines in enumerate(files()):
        run.put("a", lines)
        (path,) = (tmp_path / "in" / "a").glob(f"{number:04}.csv")
        os.utime(path, (START.timestamp() + number,) * 2)
        if rests:
            run.settle()
    if not rests:
        run.start()
        run.settle()
    options = f"'window' = '1 min', 'delays' = '0 s', 'rests' = '{str(rests).lower()}'"
    result = run.session.sql(f"ANALYZE WATERMARK FOR a BY k WITH ({options})")
    found = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    (total,) = (row for row in found if row["declared"] and row["partition"] is None)
    dropped = run.query.progress["rows_dropped"]
    assert total["rows"] == FILES * ROWS
    assert total["late rows"] == dropped > 10
    run.stop()  # what was late is said at the end at the latest
    (warned,) = [w for w in recwarn if issubclass(w.category, LateRowsNotice)]
    assert "`ANALYZE WATERMARK FOR a` says what another delay would lose" in str(warned.message)
