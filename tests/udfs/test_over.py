"""OVER on Spark, a micro-batch at a time: by event time, by the clock, after a restart; with an aggregate in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlext
from tests.stepped_queries import END_OF_TIME, TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of
from tests.workspace import EVENTS, Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BY_TIME = """SELECT `value`, SUM(`value`) OVER w AS total, LAG(`value`) OVER w AS before,
  COUNT(*) OVER (w ROWS 1 PRECEDING) AS n, ROW_NUMBER() OVER w AS number
FROM input WHERE key IS NOT NULL WINDOW w AS (PARTITION BY key ORDER BY ts);"""
BY_CLOCK = """SELECT `value`, COUNT(*) OVER (PARTITION BY key ORDER BY p RANGE INTERVAL '10' SECOND PRECEDING) AS n
FROM input WHERE key IS NOT NULL;"""


class Longest:
    """The longest text, for OVER a frame; of several the first."""

    returns = "STRING"

    def zero(self) -> str:
        return ""

    def add(self, state: str, value: str) -> str:
        return max(state, value, key=len)

    def merge(self, one: str, other: str) -> str:
        return max(one, other, key=len)

    def finish(self, state: str) -> str:
        return state


def _row(key: str, value: int, millis: int = 0) -> JsonRow:
    return {"key": key, "value": value, "ts": text_of(millis)}


def test_batch_by_batch(spark: SparkSession, tmp_path: Path) -> None:
    by_time = SteppedQuery(
        spark,
        tmp_path / "time",
        TIMED + BY_TIME,
        [
            Move([_row("a", 1, 1000), _row("a", 2, 3000), _row("b", 5, 2000)]),
            Move([_row("a", 4, 2000)], watermark=3000),
            Move([_row("a", 9, 2500), _row("a", 7, 3000)]),
            Move(watermark=END_OF_TIME),
        ],
    )
    by_clock = SteppedQuery(
        spark,
        tmp_path / "clock",
        TIMED + BY_CLOCK,
        [
            Move([_row("a", 1), _row("b", 2)], clock=0),
            Move([_row("a", 3)], clock=10_000),
            Move([_row("a", 4), _row("a", 5)], clock=10_001),
        ],
    )
    run_together([by_time, by_clock])
    # Peers have one total and one LAG; each row its own place. The row behind the watermark is dropped.
    assert rows_of(by_time) == [
        [],
        [(1, 1, None, 1, 1), (4, 5, 1, 2, 2), (5, 5, None, 1, 1)],
        [],
        [(2, 14, 2, 2, 3), (7, 14, 2, 2, 4)],
    ]
    assert [o.dropped for o in by_time.outcomes] == [0, 0, 1, 0]
    assert rows_of(by_clock) == [[(1, 1), (2, 1)], [(3, 2)], [(4, 3), (5, 3)]]


def test_goes_on_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    sink = "CREATE TABLE totals (v BIGINT, s BIGINT, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}');"
    select = "SELECT `value`, SUM(`value`) OVER w, COUNT(*) OVER (w ROWS 1 PRECEDING) FROM input"
    insert = f"INSERT INTO totals {select} WHERE key IS NOT NULL WINDOW w AS (PARTITION BY key ORDER BY ts);"
    query = SteppedQuery(spark, tmp_path, f"{TIMED}{sink}{insert}", [])
    for move in (Move([_row("a", 1, 1000), _row("a", 2, 2000)], watermark=2000), Move([_row("a", 4, 3000)], 9000)):
        query.start()
        query.put(move)
        query.settle()
        query.stop()
    session = sqlext.connect(spark, catalog=tmp_path / "catalog")
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    rows: list[tuple[Any, ...]] = session.sql("SELECT * FROM totals").rows
    assert sorted(rows) == [(1, 1, 1), (2, 3, 2), (4, 7, 2)]


def test_an_aggregate_in_python(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,1,0", "abc,2,1", "ab,3,2", "a,4,3")
    session = workspace.session()
    session.register_aggregate("longest", Longest)
    select = "SELECT v, LONGEST(k) OVER (ORDER BY ts ROWS 1 PRECEDING), LONGEST(k) OVER (ORDER BY ts) FROM events;"
    assert sorted(workspace.run(EVENTS, select, session=session)[-1].rows) == [
        (1, "a", "a"),
        (2, "abc", "abc"),
        (3, "abc", "abc"),
        (4, "ab", "abc"),
    ]
