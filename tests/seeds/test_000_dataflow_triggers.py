"""Google Dataflow, triggers: accumulating and discarding every three elements, and the page's composites.

The page's whole grammar of triggers is in ``tests/conformance/triggers``, with Beam's own panes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.stepped_queries import TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOON = datetime(2024, 1, 1, 12)
ELEMENTS = [5, 8, 3, 15, 19, 23, 9, 13, 10]
Queries = dict[str, SteppedQuery]


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def row(value: int, minutes: float = 0) -> JsonRow:
    return {"key": "X", "value": value, "ts": text_of(at(minutes))}


EVERY_3 = "SELECT COLLECT_LIST(`value`), AVG(`value`) FROM input WHERE key IS NOT NULL GROUP BY key EMIT EVERY 3 ROWS"
WINDOWED = """SELECT window_end, COLLECT_LIST(`value`), PANE_TIMING()
FROM TABLE(TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
WHERE key IS NOT NULL GROUP BY key, window_start, window_end"""
COUNTED = "SELECT COUNT(*) FROM input WHERE key IS NOT NULL GROUP BY key"
# However the elements come in, each third of them gives a pane.
IN_PIECES = [Move([row(v) for v in ELEMENTS[a:b]], clock=NOON) for a, b in ((0, 2), (2, 7), (7, 9))]
LATE = [
    Move([row(1)], clock=at(0)),
    Move(watermark=at(10)),
    Move([row(2, 3)], clock=at(20)),
    Move(clock=at(29.9)),
    Move(clock=at(30)),
    Move(watermark=at(10) + timedelta(days=2)),
    Move([row(3, 4)]),
]
HUNDRED = [
    Move([row(v) for v in range(120)], clock=at(0)),
    Move(clock=at(0.9)),
    Move(clock=at(1)),
]
SCRIPTS = {
    "accumulating": (f"{EVERY_3} ACCUMULATING", IN_PIECES),
    "discarding": (f"{EVERY_3} DISCARDING", IN_PIECES),
    "late": (f"{WINDOWED} EMIT AFTER WATERMARK LATE AFTER DELAY '10' MINUTE ALLOW LATENESS '2' DAY", LATE),
    "hundred": (f"{COUNTED} EMIT AFTER 100 ROWS OR AFTER DELAY '1' MINUTE DISCARDING", HUNDRED),
}


@pytest.fixture(scope="module")
def queries(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Queries:
    """Run all of them side by side."""
    folder = tmp_path_factory.mktemp("dataflow")
    found = {n: SteppedQuery(spark, folder / n, f"{TIMED}{sql};", moves) for n, (sql, moves) in SCRIPTS.items()}
    run_together(list(found.values()))
    return found


@pytest.mark.parametrize(
    ("mode", "panes", "averages"),
    [
        ("accumulating", [ELEMENTS[:3], ELEMENTS[:6], ELEMENTS], [5.333, 12.167, 11.667]),
        ("discarding", [ELEMENTS[:3], ELEMENTS[3:6], ELEMENTS[6:]], [5.333, 19, 10.667]),
    ],
)
def test_every_three_elements(queries: Queries, mode: str, panes: list[list[int]], averages: list[float]) -> None:
    rows_of(queries[mode])
    rows = [r for outcome in queries[mode].outcomes for r in outcome.rows]
    assert [list(values) for values, _ in rows] == panes
    assert [average for _, average in rows] == pytest.approx(averages, abs=0.0005)


def test_at_the_watermark_then_late_rows_ten_minutes_after_they_came_for_two_days(queries: Queries) -> None:
    end = at(10)
    on_time, late = (end, [1], "ON_TIME"), (end, [1, 2], "LATE")
    assert rows_of(queries["late"]) == [[], [on_time], [], [], [late], [], []]
    outcomes = queries["late"].outcomes
    assert [o.state_rows for o in outcomes] == [1, 1, 1, 1, 1, 0, 0]
    assert [o.dropped for o in outcomes] == [0, 0, 0, 0, 0, 0, 1]


def test_at_a_hundred_elements_or_each_minute(queries: Queries) -> None:
    assert rows_of(queries["hundred"]) == [[(100,)], [], [(20,)]]
