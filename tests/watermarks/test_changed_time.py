"""Time that is declared otherwise at a restart: the query goes on, and the watermark never back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlext import SqlExtError
from sqlext.session.notices import ChangedTimeNotice
from sqlext.settings import LEAVES_STATE

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

TABLE = """CREATE TABLE {name} (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS {mark}) WITH (
  'connector' = 'filesystem', 'path' = '${{IN}}/{name}', 'format' = 'csv', 'source.monitor-interval' = '1 s');
"""
COUNTS = """SET 'sqlext.clock' = '${CLOCK}';
CREATE TABLE counts (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
CREATE TABLE late (k STRING, ts TIMESTAMP(3)) WITH ('connector' = 'delta', 'path' = '${OUT}/late');
CREATE TABLE later (k STRING, ts TIMESTAMP(3)) WITH ('connector' = 'delta', 'path' = '${OUT}/later');
INSERT INTO counts
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE rows_of, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
"""
TEN = "ts - INTERVAL '10' SECOND"


def one(mark: str, *settings: str) -> str:
    """Return a count per minute over one table."""
    return "".join(settings) + TABLE.format(name="a", mark=mark) + "CREATE VIEW rows_of AS SELECT * FROM a;\n" + COUNTS


def two(*settings: str) -> str:
    """Return a count per minute over the union of two tables."""
    tables = "".join(TABLE.format(name=name, mark=TEN) for name in "ab")
    view = "CREATE VIEW rows_of AS SELECT * FROM a UNION ALL SELECT * FROM b;\n"
    return "".join(settings) + tables + view + COUNTS


def at(minute: int, second: int) -> str:
    """Return a row."""
    return f"x,2024-01-01 00:{minute:02}:{second:02}.000"


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[TimedRun]:
    run = TimedRun(spark, tmp_path, "")
    for name in "ab":
        (tmp_path / "in" / name).mkdir(parents=True)
    yield run
    run.stop()


def rows(run: TimedRun, table: str = "counts") -> list[tuple[str, object]]:
    """Return the rows of a sink so far: its time, and the other column."""
    found = run.session.sql(f"SELECT * FROM {table} /*+ OPTIONS('scan.mode' = 'snapshot') */").rows
    if table != "counts":
        return sorted((ts.strftime("%M:%S"), k) for k, ts in found)
    return sorted((w.strftime("%M"), n) for w, n in found)


def watermark(run: TimedRun) -> str:
    """Return how far Spark's own watermark is."""
    (running,) = run.query.running.values()
    return str(running.lastProgress.eventTime["watermark"])[14:19]


def changed(run: TimedRun, script: str, alter: str) -> None:
    """Stop the query; alter its table as a user does, and start it again."""
    run.stop()
    run.session.sql(alter)
    with pytest.warns(ChangedTimeNotice, match="goes on from its checkpoint"):
        run.begin(script)


def test_delay_and_expression(run: TimedRun) -> None:
    """Every minute comes out once and whole, whatever the delay is while it is open."""
    run.begin(one(TEN))
    run.put("a", [at(0, 5), at(1, 5), at(1, 15)])
    run.settle()
    assert rows(run) == [("00", 1)]

    slower = "ts - INTERVAL '40' SECOND"
    changed(run, one(slower), f"ALTER TABLE a MODIFY WATERMARK FOR ts AS {slower}")
    run.put("a", [at(0, 50), at(1, 2), at(1, 40)])  # the first is late: its minute is closed
    run.settle()
    assert watermark(run) == "01:05"  # and not 01:00
    assert run.query.progress["rows_dropped"] == 1
    run.put("a", [at(2, 45)])
    run.settle()
    assert rows(run) == [("00", 1), ("01", 4)]

    changed(run, one(TEN), f"ALTER TABLE a MODIFY WATERMARK FOR ts AS {TEN}")
    run.settle()
    assert watermark(run) == "02:35"  # without a row
    run.put("a", [at(2, 50), at(3, 15)])
    run.settle()
    assert rows(run) == [("00", 1), ("01", 4), ("02", 2)]

    expression = "ts - IF(k = 'x', INTERVAL '5' SECOND, INTERVAL '1' SECOND)"
    changed(run, one(expression), f"ALTER TABLE a MODIFY WATERMARK FOR ts AS {expression}")
    run.settle()
    assert watermark(run) == "03:05"  # what rows before came to by the new one is not known
    run.put("a", [at(3, 20), at(4, 4)])
    run.settle()
    assert rows(run) == [("00", 1), ("01", 4), ("02", 2)]
    run.put("a", [at(4, 5)])
    run.settle()
    assert rows(run) == [("00", 1), ("01", 4), ("02", 2), ("03", 2)]


def test_an_idle_timeout_for_a_query_that_stands_still(run: TimedRun) -> None:
    """And its late rows go to another table from then on."""
    kept = "SET 'sqlext.late-rows.table' = '{}';\n"
    run.begin(two(kept.format("late")))
    run.put("a", [at(0, 5), at(1, 5), at(2, 30)])
    run.put("b", [at(0, 7)])
    run.settle()
    assert rows(run) == []

    run.stop()
    script = two(kept.format("later"), "SET 'table.exec.source.idle-timeout' = '1 min';\n")
    with pytest.warns(ChangedTimeNotice) as warned:
        run.begin(script)
    moved, kept_in = sorted((str(w.message) for w in warned), reverse=True)
    assert ("is idle after 60000 ms" in moved, "/late, is " in kept_in) == (True, True)
    run.clock(60)
    run.put("a", [at(2, 31)])
    run.settle()
    assert rows(run) == [("00", 2), ("01", 1)]
    run.put("b", [at(0, 8), at(2, 20)])
    run.settle()
    assert (rows(run, "late"), rows(run, "later")) == ([], [("00:08", "x")])


def test_another_rowtime(run: TimedRun) -> None:
    """It goes on from the rows that it has read, without what was open by the old one: no minute of it comes out."""
    table = """CREATE TABLE a (k STRING, made TIMESTAMP(3), ts TIMESTAMP(3),
  WATERMARK FOR ROWTIME AS ROWTIME - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE VIEW rows_of AS SELECT * FROM a;
"""
    script = table + COUNTS.replace("DESCRIPTOR(ts)", "DESCRIPTOR(ROWTIME)")
    old, new = (script.replace("ROWTIME", column) for column in ("made", "ts"))
    run.begin(old)
    run.put("a", [_both(30, 0), _both(30, 0), _both(31, 0), _both(32, 1)])
    run.settle()
    assert rows(run) == [("30", 2)]

    run.stop()
    run.session.sql("ALTER TABLE a MODIFY WATERMARK FOR ts AS ts - INTERVAL '10' SECOND")
    with pytest.raises(SqlExtError, match="rowtime was made, is ts"):
        run.begin(new)
    with pytest.warns(ChangedTimeNotice, match="without its state"):
        run.begin(f"SET '{LEAVES_STATE}' = 'true';\n" + new)
    run.put("a", [_both(33, 2), _both(34, 2), _both(32, 3), _both(35, 5)])
    run.settle()
    assert rows(run) == [("02", 2), ("03", 1), ("30", 2)]
    assert run.query.progress["rows_dropped"] == 0


def _both(made: int, ts: int) -> str:
    return f"x,2024-01-01 00:{made:02}:05.000,2024-01-01 00:{ts:02}:05.000"
