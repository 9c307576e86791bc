"""UNNEST, LATERAL sub-queries and table functions on Spark; workers cannot find the module of the classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import sqlext
from sqlext import SqlExtError
from tests.workspace import EVENTS, Workspace

MARK = "!"  # a global of the module: it travels too
RATES = """CREATE TABLE rates (k STRING, least INT, rate INT)
WITH ('connector' = 'filesystem', 'path' = '${IN}/../rates', 'format' = 'csv', 'scan.mode' = 'snapshot');"""


class Parts:
    """One row of each number below a value."""

    returns = "part STRING, number INT"

    def eval(self, name: str, value: int | None, most: int = 3) -> Iterator[tuple[str, int]]:
        for i in range(min(value or 0, most)):
            yield name + MARK, i


class Fails:
    def eval(self, value: int) -> Iterator[tuple[float]]:
        yield (value / 0,)


@pytest.fixture
def events(workspace: Workspace) -> Workspace:
    workspace.put("0.csv", "a,1,0", "b,0,1", "a,2,2")
    return workspace


def selected(workspace: Workspace, query: str, tables: str = EVENTS) -> list[tuple[Any, ...]]:
    """Return the rows of a query, sorted."""
    session = workspace.session()
    session.register_table_function("parts", Parts)
    session.register_table_function("fails", Fails, "x DOUBLE")
    return sorted(workspace.run(tables, query, session=session)[-1].rows, key=repr)


def test_table_function(events: Workspace) -> None:
    rows = selected(events, "SELECT k, v, p, n FROM events, LATERAL TABLE(parts(k, v)) AS t (p, n) WHERE n >= 0;")
    assert rows == [("a", 1, "a!", 0), ("a", 2, "a!", 0), ("a", 2, "a!", 1)]


def test_left_join_keeps_rows_of_which_nothing_is_made(events: Workspace) -> None:
    rows = selected(events, "SELECT k, v, number FROM events LEFT JOIN LATERAL TABLE(PARTS(k, v, 1)) ON TRUE;")
    assert rows == [("a", 1, 0), ("a", 2, 0), ("b", 0, None)]
    rows = selected(
        events, "SELECT k, v, x FROM events LEFT JOIN UNNEST(SPLIT(IF(v > 0, k, NULL), 'x')) AS t (x) ON TRUE;"
    )
    assert rows == [("a", 1, "a"), ("a", 2, "a"), ("b", 0, None)]


def test_a_table_function_alone(events: Workspace) -> None:
    assert selected(events, "SELECT part, number FROM TABLE(parts('x', 2));") == [("x!", 0), ("x!", 1)]


def test_a_table_function_that_fails(events: Workspace) -> None:
    with pytest.raises(SqlExtError) as failed:
        selected(events, "SELECT k, x FROM events, LATERAL TABLE(fails(v)) AS t (x);")
    assert "ZeroDivisionError" in failed.value.message


def test_create_function(events: Workspace) -> None:
    script = f"""CREATE FUNCTION my_parts AS '{__name__}.Parts' LANGUAGE PYTHON;
    SELECT k, number FROM events, LATERAL TABLE(my_parts(k, v));"""
    session = sqlext.connect(events.spark, catalog=events.folder / "catalog", allow_python_functions=True)
    assert sorted(events.run(EVENTS, script, session=session)[-1].rows) == [("a", 0), ("a", 0), ("a", 1)]


def test_lateral_queries(events: Workspace) -> None:
    rates = events.folder / "rates"
    rates.mkdir()
    (rates / "0.csv").write_text("a,0,10\na,2,20\n")
    query = """SELECT e.k, e.v, l.rate, l.total, m.twice
    FROM events AS e
    CROSS JOIN LATERAL (SELECT rate, rate * x AS total FROM UNNEST(ARRAY[v, NULL]) AS u (x)
      JOIN rates ON x >= rates.least WHERE k = e.k) AS l
    CROSS JOIN LATERAL (SELECT l.total * 2 AS twice) AS m;"""
    assert selected(events, query, EVENTS + RATES) == [("a", 1, 10, 10, 20), ("a", 2, 10, 20, 40), ("a", 2, 20, 40, 80)]


def test_first_rows_of_each_row(events: Workspace) -> None:
    events.put("1.csv", "a,9,3", "b,7,4", "a,5,5", "c,1,6")
    query = """SELECT e.k, e.v, l.v AS top, l.above FROM events AS e
    CROSS JOIN LATERAL (SELECT v, v - e.v AS above FROM events AS i WHERE k = e.k AND v > 0 ORDER BY v DESC LIMIT 2)
    AS l WHERE e.v < 6;"""
    found = {row[:4] for row in selected(events, query)}
    assert found == {
        ("a", 1, 9, 8), ("a", 1, 5, 4), ("a", 2, 9, 7), ("a", 2, 5, 3), ("a", 5, 9, 4), ("a", 5, 5, 0),
        ("b", 0, 7, 7), ("c", 1, 1, 0),
    }  # fmt: skip


def test_groups_of_each_row(events: Workspace) -> None:
    events.put("1.csv", "a,9,3", "c,7,4", "a,2,5")
    query = """SELECT e.k, e.v, l.n, l.most FROM events AS e
    CROSS JOIN LATERAL (SELECT COUNT(*) AS n, MAX(v) AS most FROM events WHERE k = e.k AND v > 1) AS l WHERE e.v < 9;"""
    found = selected(events, query)
    assert {row[:4] for row in found} == {("a", 1, 3, 9), ("a", 2, 3, 9), ("c", 7, 1, 7)}


def test_a_changelog_goes_through(events: Workspace) -> None:
    query = """SELECT n, x, COUNT(*) AS c
    FROM (SELECT k, COUNT(*) AS n FROM events GROUP BY k), UNNEST(ARRAY[k, 'z']) AS t (x) GROUP BY n, x;"""
    events.put("1.csv", "b,0,3", "b,5,4")
    one_by_one = "'spark', 'format' = 'csv', 'maxFilesPerTrigger' = '1', 'path' = '${IN}')"
    script = f"CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector' = {one_by_one};"
    rows = {(n, x, c) for n, x, c, *_ in selected(events, query, script)}
    assert {(2, "a", 1), (3, "b", 1), (3, "z", 1), (2, "z", 1)} <= rows
