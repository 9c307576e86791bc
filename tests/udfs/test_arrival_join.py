"""An interval join by processing time on Spark: rows match, expire and come out alone by a clock of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stepped_queries import TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

#: A right row matches that comes up to 10 s after a left one.
JOIN = """SELECT a.`value`, b.`value` AS later
FROM (SELECT * FROM input WHERE key = 'left') AS a
LEFT JOIN (SELECT * FROM input WHERE key = 'right') AS b
ON a.gap = b.gap AND b.p BETWEEN a.p AND a.p + INTERVAL '10' SECOND;"""


def _row(key: str, value: int) -> JsonRow:
    return {"key": key, "value": value, "gap": 0, "ts": text_of(0)}


def test_batch_by_batch(spark: SparkSession, tmp_path: Path) -> None:
    moves = [
        Move([_row("left", 1), _row("right", 100)], clock=1000),
        Move([_row("right", 101)], clock=11_000),
        Move([_row("left", 2), _row("right", 102)], clock=11_001),
        Move(clock=21_001),
        Move([_row("left", 3)], clock=21_002),
        Move([], clock=40_000),
    ]
    query = SteppedQuery(spark, tmp_path, TIMED + JOIN, moves)
    run_together([query])
    assert rows_of(query) == [[(1, 100)], [(1, 101)], [(2, 102)], [], [], [(3, None)]]
