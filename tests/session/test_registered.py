"""Registered triggers, evictors and aggregates on Spark; workers cannot find the module of their classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import sqlext
from sqlext import SqlExtError
from sqlext.hooks import Action, Trigger, TriggerContext
from tests.workspace import EVENTS, Workspace

FACTOR = 10  # a global of the module: it travels too
FILES = EVENTS.replace("'csv')", "'csv', 'source.monitor-interval' = '100 ms')")
SINK = """CREATE TABLE counts (k STRING, r DOUBLE, n BIGINT, p INT)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');"""


class Spread:
    """Largest less smallest value, times FACTOR: merges, its state is JSON."""

    returns = "DOUBLE"

    def zero(self) -> Any:
        return None

    def add(self, state: Any, value: float) -> Any:
        return [value, value] if state is None else [min(state[0], value), max(state[1], value)]

    def merge(self, one: Any, other: Any) -> Any:
        return [min(one[0], other[0]), max(one[1], other[1])]

    def finish(self, state: Any) -> Any:
        return None if state is None else float(FACTOR * (state[1] - state[0]))


class Path:
    """The values as they came: no merge, so the rows are kept."""

    returns = "ARRAY<STRING>"

    def zero(self) -> list[str]:
        return []

    def add(self, state: list[str], *values: Any) -> list[str]:
        return [*state, "/".join(map(str, values))]

    def finish(self, state: list[str]) -> list[str]:
        return state


class OverLimit(Trigger):
    """Fires when the sum of the values since its last firing exceeds a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def on_row(self, rowtime: int | None, values: tuple[float, ...], context: TriggerContext) -> Action:
        context.state["sum"] = context.state.get("sum", 0) + values[0]
        if context.state["sum"] <= self.limit:
            return Action.CONTINUE
        context.state["sum"] = 0
        return Action.FIRE


class EverySecond:
    """Keeps every second row."""

    def keep(self, rowtimes: list[int | None]) -> list[bool]:
        return [i % 2 == 0 for i in range(len(rowtimes))]


class Fails(Spread):
    def finish(self, state: Any) -> Any:
        return 1 / 0


def session_of(workspace: Workspace) -> sqlext.Session:
    """Return a session that knows the classes."""
    session = workspace.session()
    session.register_aggregate("spread", Spread)
    session.register_aggregate("path", Path)
    session.register_aggregate("fails", Fails)
    session.register_trigger("over_limit", OverLimit)
    session.register_evictor("every_second", EverySecond)
    return session


def selected(workspace: Workspace, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query, sorted."""
    return sorted(workspace.run(EVENTS, query, session=session_of(workspace))[-1].rows, key=repr)


def ended_batch(query: Any) -> bool:
    """Whether a query has taken its row in."""
    return bool(query.progress["rows_in"] >= 1 and query.progress["batch"] >= 1)


def has_rows(workspace: Workspace, expected: list[Any]) -> bool:
    """Whether the sink has these rows and no others."""
    return workspace.delta() == expected


@pytest.fixture
def events(workspace: Workspace) -> Workspace:
    workspace.put("0.csv", "a,1,0", "b,5,1", "a,4,2", "a,2,11", "b,5,12", "a,9,13", "b,1,14")
    return workspace


def test_aggregates_with_and_without_windows(events: Workspace) -> None:
    windowed = """SELECT k, SPREAD(v) AS s, path(v, k) AS p, SUM(v) AS t
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;"""
    assert selected(events, windowed) == [
        ("a", 30.0, ["1/a", "4/a"], 5),
        ("a", 70.0, ["2/a", "9/a"], 11),
        ("b", 0.0, ["5/b"], 5),
        ("b", 40.0, ["5/b", "1/b"], 6),
    ]
    grouped = "SELECT k, 1 + spread(v) FILTER (WHERE v > 1) AS s, path(DISTINCT v) AS p FROM events GROUP BY k;"
    found = {(k, s, tuple(sorted(p))) for k, s, p in selected(events, grouped)}
    assert found == {("a", 71.0, ("1", "2", "4", "9")), ("b", 1.0, ("1", "5"))}


def test_sessions_merge_what_merges(events: Workspace) -> None:
    query = "SELECT k, SPREAD(v) AS s FROM events GROUP BY k, SESSION(ts, INTERVAL '10' SECOND);"
    assert selected(events, query) == [("a", 80.0), ("b", 0.0), ("b", 40.0)]


def test_a_trigger_keeps_its_own_state(events: Workspace) -> None:
    query = """SELECT k, COUNT(*) AS n, PANE_INDEX() AS p FROM events WHERE k <> 'b' OR v > 1 GROUP BY k
    EMIT USING TRIGGER over_limit(5, v);"""
    # a: 1 + 4 is not more than 5, with the 2 it is; then 9. b: 5, with the next 5.
    assert selected(events, query) == [("a", 3, 0), ("a", 4, 1), ("b", 2, 0)]


def test_an_evictor(events: Workspace) -> None:
    query = "SELECT k, path(v) AS p FROM events GROUP BY k EMIT EVERY 3 ROWS EVICT USING every_second();"
    assert ("a", ["1", "2"]) in selected(events, query)


def test_its_state_survives_a_restart(workspace: Workspace) -> None:
    insert = """INSERT INTO counts SELECT k, spread(v), COUNT(*), PANE_INDEX() FROM events GROUP BY k
    EMIT USING TRIGGER over_limit(5, v);"""
    for name, row, expected in [
        ("0.csv", "a,4,0", []),
        ("1.csv", "a,3,1", [("a", "10.0", "2", "0")]),
        ("2.csv", "a,8,2", [("a", "10.0", "2", "0"), ("a", "50.0", "3", "1")]),
    ]:
        workspace.put(name, row)
        session = session_of(workspace)
        (query,) = (r.query for r in workspace.run(FILES, SINK, insert, session=session) if r.query is not None)
        workspace.until(partial(ended_batch, query))
        workspace.until(partial(has_rows, workspace, expected))
        session.stop()


def test_what_it_raises_is_told(events: Workspace) -> None:
    with pytest.raises(SqlExtError) as failed:
        selected(events, "SELECT k, fails(v) AS s FROM events GROUP BY k;")
    assert failed.value.code == "RUN-038", failed.value.render()
    assert failed.value.message == "aggregate `fails` failed in finish: ZeroDivisionError: division by zero"


def test_create_function(events: Workspace) -> None:
    script = f"""CREATE FUNCTION my_spread AS '{__name__}.Spread' LANGUAGE PYTHON;
    SELECT k, my_spread(v) AS s FROM events GROUP BY k;"""
    session = sqlext.connect(events.spark, catalog=events.folder / "catalog", allow_python_functions=True)
    assert sorted(events.run(EVENTS, script, session=session)[-1].rows) == [("a", 80.0), ("b", 40.0)]
    with pytest.raises(SqlExtError) as refused:
        events.run(EVENTS, script)
    assert refused.value.code == "FUNC-035"
