"""The form of ``transformWithState`` on DataFrames of pandas gives the rows of the other one, with time and clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlext.capabilities import ROW_STATE, Capability, has
from sqlext_udfs.spark import state_forms
from tests.stepped_queries import TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

#: Sums that leave the doubles, a watermark that closes windows, a clock that fires panes.
PANES = """SELECT key, window_end, SUM(`value`), MIN(gap)
FROM TABLE(TUMBLE((SELECT * FROM input WHERE key IS NOT NULL), DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY key, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY INTERVAL '1' MINUTE;"""
LARGE = 2**53


def _row(key: str, second: int, gap: int | None = None) -> JsonRow:
    return {"key": key, "value": LARGE + second, "gap": gap, "ts": text_of(second * 1000)}


MOVES = [
    Move([_row("a", 1), _row("b", 2, gap=LARGE + 1)], clock=1000),
    Move([_row("a", 3, gap=7)], clock=61_001),
    Move([_row("a", 11)], watermark=10_000),
    Move([_row("a", 4), _row("b", 12)], clock=150_000),
    Move([], watermark=60_000),
]


def _query(spark: SparkSession, folder: Path) -> SteppedQuery:
    return SteppedQuery(spark, folder, TIMED + PANES, MOVES)


def test_the_same_rows(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _query(spark, tmp_path / "rows")
    run_together([rows])
    monkeypatch.setattr(state_forms, "has", _without_rows)
    frames = _query(spark, tmp_path / "frames")
    run_together([frames])
    assert sum(map(len, rows_of(rows))) > len(MOVES)
    assert rows_of(frames) == rows_of(rows)
    assert [o.dropped for o in frames.outcomes] == [o.dropped for o in rows.outcomes]


def _without_rows(capability: Capability) -> bool:
    return capability is not ROW_STATE and has(capability)
