"""SESSION with a gap of each row, on Spark: as a stream, in batch mode, and with a gap that is none."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from tests.workspace import EVENTS, Workspace

SINK = """CREATE TABLE counts (k STRING, s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');"""
INSERT = """INSERT INTO counts SELECT k, window_start, window_end, COUNT(*)
FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), v * INTERVAL '1' SECOND))
GROUP BY k, window_start, window_end;"""
BATCH = "SET 'execution.runtime-mode' = 'batch';"


@pytest.fixture
def events(workspace: Workspace) -> Workspace:
    """The gap is the value: a's row of 20 s spans the one of 1 s and touches the last."""
    workspace.put("0.csv", "a,20,0", "a,1,5", "b,3,0", "b,3,4")
    workspace.put("1.csv", "a,2,20", "b,3,6")
    return workspace


@pytest.mark.parametrize("mode", ["", BATCH])
def test_rows_keep_their_session_open_as_long_as_they_say(events: Workspace, mode: str) -> None:
    if mode:
        select = INSERT.partition("counts ")[2]
        rows = sorted(tuple(map(str, r)) for r in events.run(EVENTS, mode, select)[-1].rows)
    else:
        events.run(EVENTS, SINK, INSERT)
        rows = events.delta()
    day = "2024-01-01 00:00:"
    # A session ends at its latest row's end; in batch mode as in a stream.
    assert rows == [
        ("a", f"{day}00", f"{day}22", "3"),
        ("b", f"{day}00", f"{day}03", "1"),
        ("b", f"{day}04", f"{day}09", "2"),
    ]


def test_sessions_of_other_keys(events: Workspace) -> None:
    """Sessions made by key, counted without it."""
    select = """SELECT window_start, COUNT(*)
    FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), v * 1000)) GROUP BY window_start, window_end;"""
    assert sorted((r[0].second, r[1]) for r in events.run(EVENTS, select)[-1].rows) == [(0, 1), (0, 3), (4, 2)]


@pytest.mark.parametrize("mode", ["", BATCH])
@pytest.mark.parametrize("value", ["0", "-1", "99"])
def test_a_gap_that_is_null_or_not_positive_fails_the_job(workspace: Workspace, value: str, mode: str) -> None:
    workspace.put("0.csv", "a,20,0", f"a,{value},2024-01-01 00:00:05.000")
    with pytest.raises(SqlExtError) as failed:
        workspace.run(EVENTS, mode, INSERT.partition("counts ")[2].replace("v *", "NULLIF(v, 99) *"))
    assert failed.value.code == "RUN-037", failed.value.render()
    assert failed.value.line is not None


def test_where_keeps_such_rows_out_of_legacy_sessions(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,20,0", "a,0,5")
    select = "SELECT k, COUNT(*) FROM events WHERE v > 0 GROUP BY k, SESSION(ts, v * INTERVAL '1' SECOND);"
    assert workspace.run(EVENTS, select)[-1].rows == [("a", 1)]


def test_under_emit(events: Workspace) -> None:
    """Early panes of a session, each with the bounds that it had then."""
    select = """SELECT k, window_end, COUNT(*) AS n, PANE_TIMING() AS t
    FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), v * INTERVAL '1' SECOND))
    GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 2 ROWS;"""
    rows = {(k, e.second, n, t) for k, e, n, t in events.run(EVENTS, select)[-1].rows}
    assert {("a", 22, 3, "ON_TIME"), ("b", 3, 1, "ON_TIME"), ("b", 9, 2, "ON_TIME")} <= rows
    assert ("a", 20, 2, "EARLY") in rows
