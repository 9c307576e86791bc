"""Inputs that fall silent, wake up and are restarted: the rows are those of a run in which nobody was silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from .timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.sampled]

TABLE = """CREATE TABLE {name} (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${{IN}}/{name}', 'format' = 'csv', 'source.monitor-interval' = '1 s',
  'scan.watermark.idle-timeout' = '1 min');
"""
OUTPUT = """SET 'sqlext.clock' = '${CLOCK}';
CREATE TABLE late (v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/late');
CREATE TABLE counts (w TIMESTAMP(3), n BIGINT, s BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
INSERT INTO counts """
UNION = """SELECT window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE together, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end
EMIT AFTER WATERMARK LATE DATA TO late;
"""
JOIN = """SELECT COALESCE(a.window_start, b.window_start), a.v, b.v
FROM (SELECT * FROM TABLE(TUMBLE(TABLE i0, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) AS a
FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE i1, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) AS b
ON a.window_start = b.window_start AND a.window_end = b.window_end;
"""
MINUTES = 5
RESTART = 2
AFTERWARDS = 20


class Sent(NamedTuple):
    """A row: its input, its number, and its time in seconds."""

    input: int
    number: int
    at: int

    @property
    def line(self) -> str:
        """The row in a file."""
        return f"{self.number},2024-01-01 00:{self.at // 60:02}:{self.at % 60:02}.000"


def script(inputs: int, query: str) -> str:
    """Return the job over some inputs."""
    names = [f"i{n}" for n in range(inputs)]
    together = " UNION ALL ".join(f"SELECT v, ts FROM {name}" for name in names)
    tables = "".join(TABLE.format(name=name) for name in names)
    return f"{tables}CREATE VIEW together AS {together};\n{OUTPUT}{query}"


def is_silent(number: int, minute: int) -> bool:
    """Whether an input says nothing in a minute: each is silent for two minutes, then speaks for four."""
    return (number + minute // 2) % 3 == 0


def in_time(inputs: int, minute: int) -> list[Sent]:
    """Return the rows of a minute: two of each input that is not silent."""
    speaking = [n for n in range(inputs) if not is_silent(n, minute)]
    return [Sent(n, 1000 * minute + 10 * n + s, 60 * minute + s + n) for n in speaking for s in (5, 40)]


def too_late(inputs: int, minute: int) -> list[Sent]:
    """Return what inputs that wake up send of the minute before the last one, whose window has closed."""
    woken = [n for n in range(inputs) if minute > 1 and is_silent(n, minute - 1) and not is_silent(n, minute)]
    return [Sent(n, 1000 * minute + 10 * n + 9, 60 * (minute - 2) + 30) for n in woken]


def give(run: TimedRun, rows: Sequence[Sent]) -> None:
    """Give each input its rows, in one file."""
    for number in sorted({row.input for row in rows}):
        run.put(f"i{number}", [row.line for row in rows if row.input == number])


def written(run: TimedRun, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a Delta table."""
    return sorted(run.session.sql(f"SELECT * FROM {table} /*+ OPTIONS('scan.mode' = 'snapshot') */").rows)


@pytest.fixture
def runs(spark: SparkSession, tmp_path: Path) -> Iterator[tuple[TimedRun, TimedRun]]:
    both = TimedRun(spark, tmp_path / "silent", ""), TimedRun(spark, tmp_path / "even", "")
    yield both
    for run in both:
        run.stop()


@pytest.mark.parametrize(("inputs", "query"), [(3, UNION), (2, JOIN), (8, UNION)])
def test_silences_change_no_row(runs: tuple[TimedRun, TimedRun], inputs: int, query: str) -> None:
    silent, even = runs
    last = [Sent(n, 0, 60 * AFTERWARDS) for n in range(inputs)]
    lost: list[Sent] = []
    for n in range(inputs):
        for run in runs:
            run.put(f"i{n}", [])
    silent.begin(script(inputs, query))
    for minute in range(MINUTES):
        if minute == RESTART:
            silent.stop()
            silent.start()
        late = too_late(inputs, minute) if query is UNION else []
        lost += late
        give(silent, [*in_time(inputs, minute), *late])
        silent.clock(70 * (minute + 1))
        silent.settle()
    give(silent, last)
    silent.settle()

    give(even, [row for minute in range(MINUTES) for row in in_time(inputs, minute)])
    even.begin(script(inputs, query))
    even.settle()
    give(even, last)
    even.settle()
    assert written(silent, "counts") == written(even, "counts")
    assert {row[0].minute for row in written(even, "counts")} == set(range(MINUTES))
    if query is UNION:
        assert lost
        assert written(silent, "late") == sorted((row.number,) for row in lost)
