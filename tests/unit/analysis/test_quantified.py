"""Comparisons with ANY, SOME and ALL of a query: joined as one row that summarises it, or given to Spark."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.joins import StreamJoin
from sqlext_udfs.joins.specification import JoinKind

from .conftest import Analysis

VALUES = "(SELECT amount FROM clicks WHERE amount > 3)"
NAMES = "(SELECT page FROM visits)"


def kinds(flink: Analysis, query: str) -> list[JoinKind]:
    return [n.join for n in walk(flink.plan(query)) if isinstance(n, StreamJoin)]


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (f"user_name = ANY {NAMES}", JoinKind.SEMI),
        (f"user_name = SOME {NAMES}", JoinKind.SEMI),
        (f"user_name <> ALL {NAMES}", JoinKind.ANTI),
        (f"NOT (user_name = ANY {NAMES})", JoinKind.ANTI),
        (f"amount > ALL {VALUES}", JoinKind.LEFT),
        (f"amount = ALL {VALUES}", JoinKind.LEFT),
        (f"amount <> ANY {VALUES}", JoinKind.LEFT),
        (f"amount < SOME {VALUES} OR user_name = 'x'", JoinKind.LEFT),
        (f"NOT amount <= ANY {VALUES}", JoinKind.LEFT),
        ("amount > ALL (SELECT amount FROM clicks ORDER BY amount LIMIT 3)", JoinKind.LEFT),
        ("amount > ALL (SELECT COUNT(*) FROM clicks GROUP BY user_name)", JoinKind.LEFT),
    ],
)
def test_over_a_stream_they_are_one_join(flink: Analysis, condition: str, kind: JoinKind) -> None:
    assert kinds(flink, f"SELECT user_name FROM clicks WHERE {condition}")[:1] == [kind]
    assert kind is not JoinKind.LEFT or kinds(flink, f"SELECT {condition} AS x FROM clicks")[:1] == [kind]


def test_of_groups(flink: Analysis) -> None:
    query = f"SELECT user_name FROM clicks GROUP BY user_name HAVING COUNT(*) >= ALL {VALUES}"
    assert kinds(flink, query) == [JoinKind.LEFT]


@pytest.mark.parametrize("mode", ["flink", "spark"])
def test_over_static_tables_spark_computes_them(mode: str) -> None:
    names = "(SELECT user_name FROM users)"
    compiled = Analysis(mode).run(f"SELECT country > ALL {names} AS x, country = ANY {names} AS y FROM users")
    assert compiled is not None
    text = compiled.script.query
    assert ("ANY" in text, "ALL" in text) == (False, False)
    assert "country IN (SELECT" in text


@pytest.mark.parametrize(
    ("condition", "code", "at"),
    [
        ("amount > ALL (SELECT page, vt FROM visits)", "NAME-007", "SELECT page"),
        ("user_name = ANY (SELECT page, vt FROM visits)", "NAME-007", "user_name = ANY"),
        ("amount > ALL (SELECT nope FROM visits)", "NAME-003", "nope"),
        ("amount > ALL (SELECT vt FROM visits)", "TYPE-001", "amount > ALL"),
        ("amount = ANY ('a', 'b')", "TYPE-001", "amount = ANY"),
        ("amount = ANY (ARRAY[1])", "TYPE-001", "amount = ANY"),
    ],
)
def test_refused(flink: Analysis, condition: str, code: str, at: str) -> None:
    flink.refuse(f"SELECT user_name FROM clicks WHERE {condition}", code, at)


def test_in_spark_any_without_a_query_is_an_aggregate(spark_mode: Analysis) -> None:
    compiled = spark_mode.run("SELECT any(amount > 1) = some(amount > 2) AS x FROM clicks")
    assert compiled is not None
    assert "any(amount > 1) = some(amount > 2)" in compiled.script.query
