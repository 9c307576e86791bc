"""Apache Flink, windows: assigners, triggers, evictors, lateness, windows after windows.

Flink's own panes are in ``tests/conformance/triggers``.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

from tests.stepped_queries import END_OF_TIME, TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 1, 1)
LATE_ROWS = """CREATE TABLE late_rows (key STRING, `value` BIGINT, ts TIMESTAMP(3), watermark TIMESTAMP(3))
WITH ('connector' = 'delta', 'path' = '${OUT}');
"""
Queries = dict[str, SteppedQuery]


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def row(key: str, value: int, second: float, gap: int | None = None) -> JsonRow:
    return {"key": key, "value": value, "ts": text_of(at(second)), "gap": gap}


def over(window: str, what: str, emit: str = "", keyed: bool = True) -> str:
    """Return a query of a window function."""
    keys = "key, " if keyed else ""
    return (
        f"SELECT {keys}window_start, window_end, {what} FROM TABLE({window}) WHERE key IS NOT NULL"
        f" GROUP BY {keys}window_start, window_end {emit}"
    )


TUMBLE = "TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '5' SECOND)"
HOP = "HOP(TABLE input, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
SESSION = "SESSION(TABLE input PARTITION BY key, DESCRIPTOR(ts), %s)"
DAY = "TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '-8' HOUR)"
BY_CLOCK = "TUMBLE(TABLE input, DESCRIPTOR(p), INTERVAL '5' SECOND)"
LISTED = "SELECT COLLECT_LIST(`value`) FROM input WHERE key IS NOT NULL GROUP BY key"
SUMS = f"""SELECT window_start, window_end, window_time, SUM(`value`) AS s
FROM TABLE({TUMBLE}) WHERE key IS NOT NULL GROUP BY key, window_start, window_end, window_time"""
CONSECUTIVE = f"""SELECT window_start, window_end, MAX(s), COUNT(*)
FROM ({SUMS}) GROUP BY window_start, window_end"""
TOP = f"""SELECT window_start, key, s FROM (
SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC) AS n
FROM ({SUMS.replace("SELECT window_start", "SELECT key, window_start")})) WHERE n <= 1"""
ROWS = [row("a", 1, 1, 3000), row("b", 2, 2, 1000), row("a", 3, 4, 1000), row("a", 4, 6.5, 1000)]
ALL = [Move(ROWS, clock=START), Move(watermark=END_OF_TIME)]
FOUR = [Move([row("a", v, v) for v in pair], clock=START) for pair in ((1, 2), (3, 4), (5, 6))]
OLD = [Move([row("a", 1, 1), row("a", 2, 4)], clock=START), Move([row("a", 3, 3.5), row("a", 4, 2.001)])]
PRICES = [Move([row("a", v, s) for v, s in ((1, 0), (2, 1), (9, 2), (3, 3), (10, 4))], clock=START)]
LATENESS = [
    Move([row("a", 1, 1)], clock=START),
    Move(watermark=at(5)),
    Move([row("a", 2, 2)]),
    Move(watermark=at(8)),
    Move([row("a", 3, 3), row("a", 4, 6)]),
]
CLOCK = [
    Move([row("a", 1, 50)], clock=at(3)),
    Move([row("a", 2, 60)], clock=at(4)),
    Move(clock=at(5)),
    Move([row("a", 3, 0)], clock=at(6)),
]
END = [Move(watermark=END_OF_TIME)]
SCRIPTS = {
    "keyed": (over(TUMBLE, "SUM(`value`)", "EMIT DEFAULT"), ALL),
    "non-keyed": (over(TUMBLE, "SUM(`value`), COUNT(DISTINCT key)", keyed=False), ALL),
    "sliding": (over(HOP, "SUM(`value`)", "EMIT DEFAULT"), ALL),
    "session": (over(SESSION % "INTERVAL '3' SECOND", "SUM(`value`)", "EMIT DEFAULT"), ALL),
    "session of a gap of each row": (over(SESSION % "gap", "SUM(`value`)"), ALL),
    "day in UTC+8": (over(DAY, "COUNT(*)", "EMIT DEFAULT", keyed=False), ALL),
    "processing time": (over(BY_CLOCK, "SUM(`value`)"), CLOCK),
    "consecutive": (CONSECUTIVE, ALL),
    "top k": (TOP, ALL),
    "global": (f"{LISTED} EMIT NEVER", ALL[:1]),
    "count window": (f"{LISTED} EMIT EVERY 2 ROWS KEEP LAST 4 ROWS", FOUR),
    "count evictor after": (f"{LISTED} EMIT EVERY 2 ROWS KEEP LAST 1 ROWS AFTER FIRING", FOUR),
    "time evictor": (over(TUMBLE, "COLLECT_LIST(`value`)", "EMIT DEFAULT KEEP LAST '2' SECOND"), PRICES + END),
    "time evictor of no window": (f"{LISTED} EMIT EVERY 2 ROWS KEEP LAST '2' SECOND AFTER FIRING", OLD),
    "delta evictor": (over(TUMBLE, "COLLECT_LIST(`value`)", "EMIT DEFAULT KEEP DELTA OF (`value`) < 5"), PRICES + END),
    "delta trigger": (f"{LISTED} EMIT AFTER ABS DELTA OF (`value`) > 5 DISCARDING", PRICES),
    "trigger of a condition": (f"{LISTED} EMIT CASE WHEN `value` > 8 THEN FIRE AND PURGE ELSE CONTINUE END", PRICES),
    "lateness": (
        over(TUMBLE, "SUM(`value`), PANE_TIMESTAMP()", "EMIT DEFAULT ALLOW LATENESS '3' SECOND LATE DATA TO late_rows"),
        LATENESS,
    ),
}


@pytest.fixture(scope="module")
def queries(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Queries:
    """Run all of them side by side."""
    folder = tmp_path_factory.mktemp("flink")
    found = {
        name: SteppedQuery(spark, folder / str(i), f"{TIMED}{LATE_ROWS}{sql};", moves)
        for i, (name, (sql, moves)) in enumerate(SCRIPTS.items())
    }
    run_together(list(found.values()))
    return found


WINDOWS = {
    "keyed": [("a", at(0), at(5), 4), ("a", at(5), at(10), 4), ("b", at(0), at(5), 2)],
    "non-keyed": [(at(0), at(5), 6, 2), (at(5), at(10), 4, 1)],
    "sliding": [
        ("a", at(-5), at(5), 4),
        ("a", at(0), at(10), 8),
        ("a", at(5), at(15), 4),
        ("b", at(-5), at(5), 2),
        ("b", at(0), at(10), 2),
    ],
    # Sessions that touch are one: 1 and 4 with a gap of 3.
    "session": [("a", at(1), at(9.5), 8), ("b", at(2), at(5), 2)],
    "session of a gap of each row": [("a", at(1), at(5), 4), ("a", at(6.5), at(7.5), 4), ("b", at(2), at(3), 2)],
    "day in UTC+8": [(at(-8 * 3600), at(16 * 3600), 4)],
    "consecutive": [(at(0), at(5), 4, 2), (at(5), at(10), 4, 1)],
    "top k": [(at(0), "a", 4), (at(5), "a", 4)],
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(queries: Queries, name: str) -> None:
    before, after = rows_of(queries[name])
    assert before == []
    assert after == sorted(WINDOWS[name], key=repr)


PANES = {
    "processing time": [[], [], [("a", at(0), at(5), 3)], []],
    "global": [[]],
    "count window": [[([1, 2],)], [([1, 2, 3, 4],)], [([3, 4, 5, 6],)]],
    "count evictor after": [[([1, 2],)], [([2, 3, 4],)], [([4, 5, 6],)]],
    # Rows of more than 2 s before the newest go, as those of exactly 2 s do.
    "time evictor": [[], [("a", at(0), at(5), [3, 10])]],
    "time evictor of no window": [[([1, 2],)], [([2, 3, 4],)]],
    "delta evictor": [[], [("a", at(0), at(5), [9, 10])]],
    # From 1 to 9; from 9 to 3; from 3 to 10.
    "delta trigger": [[([1, 2, 9],), ([10],), ([3],)]],
    "trigger of a condition": [[([1, 2, 9],), ([3, 10],)]],
    "lateness": [
        [],
        [("a", at(0), at(5), 1, at(4.999))],
        [("a", at(0), at(5), 3, at(4.999))],
        [],
        [],
    ],
}


@pytest.mark.parametrize("name", PANES)
def test_triggers_and_evictors(queries: Queries, name: str) -> None:
    assert rows_of(queries[name]) == PANES[name]


def test_late_rows_go_to_a_table(queries: Queries) -> None:
    query = queries["lateness"]
    rows_of(query)
    late = DeltaTable(query.folder / "out").to_pyarrow_table().to_pylist()
    assert [(r["key"], r["value"], r["watermark"].replace(tzinfo=None)) for r in late] == [("a", 3, at(8))]
    assert [o.dropped for o in query.outcomes] == [0] * len(LATENESS)
