"""Sub-queries over a stream that are values, and conditions on them under OR: joined to FROM."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.joins import StreamJoin
from sqlext.plan.nodes import Join
from sqlext_udfs.joins.specification import JoinKind

from .conftest import Analysis

TOTAL = "(SELECT MAX(amount) FROM clicks)"
OWN = "(SELECT COUNT(*) FROM visits v WHERE v.user_name = c.user_name AND v.page <> 'x')"

PAGES = "(SELECT page FROM visits v WHERE v.user_name = c.user_name)"


def joins(flink: Analysis, query: str) -> list[StreamJoin]:
    return [n for n in walk(flink.plan(query)) if isinstance(n, StreamJoin)]


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (f"SELECT user_name FROM clicks c WHERE amount = {TOTAL}", [0]),
        (f"SELECT user_name, amount - {TOTAL} AS d FROM clicks c", [0]),
        (f"SELECT user_name, {OWN} AS n FROM clicks c", [1]),
        (f"SELECT user_name FROM clicks c WHERE amount > {OWN} OR amount < {TOTAL}", [0, 1]),
        ("SELECT user_name FROM clicks c WHERE amount = 1 OR user_name IN (SELECT page FROM visits)", [1]),
        (
            f"SELECT user_name FROM clicks c WHERE amount = 1 OR (amount > 2 AND user_name IN {PAGES})",
            [2],
        ),
        ("SELECT user_name FROM clicks c WHERE amount = 1 OR NOT EXISTS (SELECT 1 FROM visits)", [0]),
        (
            "SELECT user_name, EXISTS (SELECT 1 FROM visits v WHERE v.user_name = c.user_name) AS seen FROM clicks c",
            [1],
        ),
        (f"SELECT user_name, COUNT(*) FROM clicks c WHERE amount < {TOTAL} GROUP BY user_name", [0]),
        (f"SELECT user_name FROM clicks GROUP BY user_name HAVING SUM(amount) > {TOTAL}", [0]),
        (f"SELECT user_name, SUM(amount) / {TOTAL} AS part FROM clicks GROUP BY user_name", [0]),
        (f"SELECT user_name, {TOTAL} AS m FROM clicks GROUP BY user_name HAVING COUNT(*) > {TOTAL}", [0, 0]),
        (f"SELECT SUM(amount) AS s FROM clicks HAVING SUM(amount) > {TOTAL}", [0]),
        (f"SELECT DISTINCT COUNT(*) + {TOTAL} AS n FROM clicks GROUP BY user_name", [0]),
    ],
)
def test_joined(flink: Analysis, query: str, keys: list[int]) -> None:
    found = joins(flink, query)
    assert sorted(len(j.equal) for j in found) == keys
    assert {j.join for j in found} == {JoinKind.LEFT}


def test_a_star_does_not_show_them(flink: Analysis) -> None:
    plain = list(flink.columns("SELECT * FROM clicks"))
    assert list(flink.columns(f"SELECT * FROM clicks c WHERE amount = {TOTAL}")) == plain


def test_a_count_of_nothing_is_0(flink: Analysis) -> None:
    compiled = flink.run(f"SELECT user_name, {OWN} AS n FROM clicks c")
    assert compiled is not None
    assert "SELECT COALESCE(" in compiled.script.query


@pytest.mark.parametrize(
    "query",
    [
        "SELECT amount, (SELECT MAX(since) FROM users u WHERE u.user_name = c.user_name) AS m FROM clicks c",
        "SELECT 1 FROM clicks c WHERE amount = 1 OR EXISTS (SELECT 1 FROM users u WHERE u.user_name = c.user_name)",
    ],
)
def test_correlated_ones_over_static_tables_are_joined_by_spark(flink: Analysis, query: str) -> None:
    plan = flink.plan(query)
    (join,) = (n for n in walk(plan) if isinstance(n, Join))
    assert (join.kind, len(join.sought)) == ("LEFT", 1)
    assert not plan.changelog
    assert not plan.updating


def test_those_over_static_tables_are_sparks(flink: Analysis) -> None:
    query = "SELECT user_name FROM clicks WHERE amount = 1 OR user_name IN (SELECT user_name FROM users)"
    assert joins(flink, query) == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT user_name FROM clicks WHERE amount = (SELECT amount FROM clicks)", "JOIN-016"),
        ("SELECT user_name FROM clicks c WHERE amount = (SELECT MAX(1) FROM visits v WHERE v.vt > c.ts)", "JOIN-016"),
        ("SELECT user_name FROM clicks c WHERE amount = (SELECT MAX(vt), MAX(page) FROM visits)", "NAME-007"),
        (
            "SELECT (SELECT MAX(vt), MAX(page) FROM visits v WHERE v.user_name = c.user_name) AS x FROM clicks c",
            "NAME-007",
        ),
        ("SELECT (SELECT page FROM visits v WHERE v.user_name = c.user_name LIMIT 1) AS x FROM clicks c", "NAME-003"),
        ("SELECT 1 FROM clicks c WHERE amount = 1 OR user_name NOT IN (SELECT page FROM visits)", "JOIN-017"),
        ("SELECT 1 FROM clicks c WHERE amount = 1 OR NOT (user_name IN (SELECT page FROM visits))", "JOIN-017"),
        ("SELECT user_name IN (SELECT page FROM visits) AS x FROM clicks", "JOIN-017"),
        (f"SELECT user_name FROM clicks c GROUP BY user_name HAVING COUNT(*) > {OWN}", "JOIN-017"),
        (f"SELECT user_name, {OWN} AS n FROM clicks c GROUP BY user_name", "JOIN-017"),
        (f"SELECT SUM(amount - {TOTAL}) AS s FROM clicks", "JOIN-017"),
        (f"SELECT user_name FROM clicks GROUP BY user_name HAVING MAX(amount - {TOTAL}) > 1", "JOIN-017"),
        (f"SELECT user_name FROM users WHERE CHAR_LENGTH(user_name) > {TOTAL}", "JOIN-017"),
    ],
)
def test_refused(flink: Analysis, query: str, code: str) -> None:
    flink.refuse(query, code)


def test_what_static_tables_say_of_groups_is_sparks(flink: Analysis) -> None:
    query = "SELECT user_name FROM clicks GROUP BY user_name HAVING COUNT(*) > (SELECT COUNT(*) FROM users)"
    assert joins(flink, query) == []
