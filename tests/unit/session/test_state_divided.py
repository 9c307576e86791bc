"""State that is divided into other buckets gives the rows that it would have given in those from the start."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.kernel.hashing import buckets_of
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.spark.rebucketing import wanted
from tests.unit.session.bucketed import GROUPED, MIDNIGHT, ROWS, WINDOWS, Bucketed, script_for

SESSIONS = "TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
CHANGES = "(SELECT k, COUNT(*) AS n, MAX(ts) AS ts FROM events GROUP BY k)"
FRAME = "PARTITION BY k ORDER BY ts"
OVER = "SELECT k, ts, SUM(v) OVER (%s), v FROM events"
#: A query of each operator, and of each form of its state.
QUERIES = {
    "windows of one pane": f"{GROUPED} EMIT AFTER WATERMARK",
    "windows of several panes": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS ALLOW LATENESS INTERVAL '9' SECOND",
    "windows that take back": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS RETRACTING",
    "discarding": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS DISCARDING",
    "groups one by one": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS KEEP LAST 2 ROWS",
    "sessions": f"SELECT k, window_start, COUNT(*), SUM(v) FROM {SESSIONS} GROUP BY k, window_start, window_end"
    " EMIT AFTER WATERMARK",
    "sessions of several panes": f"SELECT k, window_start, COUNT(*), SUM(v) FROM {SESSIONS}"
    " GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 2 ROWS",
    "FILL": f"{GROUPED} EMIT FILL FOR 1 MINUTE",
    "without a window": "SELECT k, MAX(ts), COUNT(*), COUNT(DISTINCT v) FROM events GROUP BY k",
    "of changes": f"SELECT MIN(k), MAX(ts), n, COUNT(*) FROM {CHANGES} GROUP BY n",
    "DISTINCT": "SELECT DISTINCT k, CAST(NULL AS TIMESTAMP(3)), v, v FROM events",
    "Top-N": "SELECT k, ts, v, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM events)"
    " WHERE r <= 2",
    "Top-N of a window": "SELECT k, ts, v, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start,"
    f" window_end ORDER BY v) AS r FROM {WINDOWS}) WHERE r <= 2",
    "first row": f"SELECT k, ts, v, 1 FROM (SELECT *, ROW_NUMBER() OVER ({FRAME}) AS r FROM events) WHERE r = 1",
    "OVER rows": OVER % f"{FRAME} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "OVER all": OVER % FRAME,
    "OVER ahead": OVER % f"{FRAME} ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
    "OVER time": OVER % f"{FRAME} RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND CURRENT ROW",
    "join": "SELECT l.k, l.ts, l.v, r.v FROM events AS l LEFT JOIN events AS r ON l.k = r.k AND l.v < r.v",
    "interval join": "SELECT l.k, l.ts, l.v, r.v FROM events AS l LEFT JOIN events AS r ON l.k = r.k"
    " AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '9' SECOND AND l.v < r.v",
    "MATCH_RECOGNIZE": "SELECT k, t, n, m FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(x.ts)"
    " AS t, LAST(y.v) AS n, FIRST(x.v) AS m PATTERN (x y) DEFINE y AS y.v > x.v)",
    "one above the other": f"SELECT MIN(k), CAST(NULL AS TIMESTAMP(3)), c, COUNT(*) FROM (SELECT k, COUNT(*) AS c"
    f" FROM {WINDOWS} GROUP BY k, window_start, window_end EMIT AFTER WATERMARK) GROUP BY c",
}
BUCKETS = st.integers(1, 5)


@pytest.mark.parametrize("name", QUERIES)
@settings(deadline=None, max_examples=settings().max_examples // 10)
@given(ROWS, ROWS, ROWS, st.tuples(BUCKETS, BUCKETS), st.tuples(st.integers(0, 30), st.integers(30, 60)))
def test_other_buckets_give_the_same_rows(
    name: str,
    first: list[dict[str, object]],
    then: list[dict[str, object]],
    last: list[dict[str, object]],
    buckets: tuple[int, int],
    seconds: tuple[int, int],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in").mkdir()
        script = script_for(folder, QUERIES[name])
        one, two = (MIDNIGHT + 1000 * s for s in seconds)
        runs = [Bucketed(folder, script, number) for number in buckets]
        for run in runs:
            run.step(first, Clock(one, Clock.BEGIN, 0))
        after = runs[0].divided(buckets[1])
        for rows, clock in ((then, Clock(two, one, 0)), (last, Clock(Clock.END, two, 0))):
            assert after.step(rows, clock) == runs[1].step(rows, clock)


def test_what_is_divided_is_all_there() -> None:
    """Each row of a key is in the bucket of the key, and in no other one."""
    columns = [pa.array(["a", "b", None, "a", "c"]), pa.array([1, 2, 3, 4, 5])]
    parts = [wanted(buckets_of, 1, bucket, 3)(columns, 5) for bucket in range(3)]
    assert np.array(parts).sum(axis=0).tolist() == [1] * 5
    assert all(part[0] == part[3] for part in parts)
