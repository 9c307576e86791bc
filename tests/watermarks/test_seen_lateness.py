"""What ANALYZE WATERMARK FROM QUERIES foretells of other delays, against what queries with these delays drop."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A window of a millisecond ends where its row lies: as late as the row is.
SCRIPT = """CREATE TABLE a (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${{IN}}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s',
  'maxFilesPerTrigger' = '1', 'sqlext.source' = '{source}');
CREATE TABLE o (k STRING, w TIMESTAMP(3), n BIGINT, timing STRING) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT k, window_start, COUNT(*) AS n, PANE_TIMING() AS timing
FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '0.001' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK;
"""
START = datetime(2024, 1, 1)
FILES, ROWS = 8, 60
DELAYS = (2, 10, 60)
#: The delay of the run whose rows Spark reads: of them only the smallest and the largest time are known.
BY_SPARK = 10


def put_files(run: TimedRun, folder: Path) -> None:
    """Write half a minute of rows into each file; some come minutes late."""
    chance = random.Random(7)
    for file in range(FILES):
        seconds = (30 * file + chance.random() * 30 - chance.expovariate(1 / 40) for _ in range(ROWS))
        times = (START + timedelta(seconds=s) for s in seconds)
        run.put("a", [f"{chance.choice('xyz')},{t.isoformat(' ', 'milliseconds')}" for t in times])
    for number, path in enumerate(sorted((folder / "in" / "a").iterdir())):
        os.utime(path, (START.timestamp() + number,) * 2)


@pytest.fixture
def runs(spark: SparkSession, tmp_path: Path) -> Iterator[dict[int, TimedRun]]:
    found = {}
    for delay in DELAYS:
        script = SCRIPT.format(delay=delay, source="spark" if delay == BY_SPARK else "arrow")
        found[delay] = TimedRun(spark, tmp_path / str(delay), script)
        put_files(found[delay], tmp_path / str(delay))
    yield found
    for run in found.values():
        run.stop()


def told(run: TimedRun, options: str) -> dict[float, dict[str, Any]]:
    """Return what the statement says of all rows, by the delay in seconds."""
    result = run.session.sql(f"ANALYZE WATERMARK FOR a FROM QUERIES WITH ({options})")
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    return {row["delay"].total_seconds(): row for row in rows if row["partition"] is None}


def test_the_loss_of_other_delays_is_that_of_their_runs(runs: dict[int, TimedRun]) -> None:
    counted = {}
    found = {}
    for delay, run in runs.items():
        run.start()
        run.settle()
        counted[delay] = run.query.progress["rows_dropped"]
        found[delay] = told(run, f"'delays' = '{', '.join(f'{d} s' for d in DELAYS)}'")
        run.stop()
    assert counted[60] > 10
    for own, rows in found.items():
        for delay in DELAYS:
            least, most = rows[delay]["late at least"], rows[delay]["late at most"]
            assert rows[delay]["rows"] == FILES * ROWS
            assert least <= counted[delay] <= most
            assert (own == BY_SPARK) == (least < most)
            assert rows[delay]["declared"] == (own == delay)


def test_a_restart_keeps_it(runs: dict[int, TimedRun], tmp_path: Path) -> None:
    run = runs[60]
    last = max((tmp_path / "60" / "in" / "a").iterdir())
    kept = last.read_text("utf-8")
    last.unlink()
    run.start()
    run.settle()
    before = told(run, "'delays' = '2 s'")[2]
    run.stop()
    assert told(run, "'delays' = '2 s'")[2] == before, "what its keeper wrote last"
    last.write_text(kept, "utf-8")
    run.start()
    run.settle()
    after = told(run, "'delays' = '2 s'")[2]
    assert (before["rows"], after["rows"]) == ((FILES - 1) * ROWS, FILES * ROWS)
    assert after["late at least"] > before["late at least"]
