"""TO_CHANGELOG, FROM_CHANGELOG and tables of changes: columns, changelogs, refusals."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.changelog_functions import FromChangelog, ToChangelog
from sqlext.plan.grouping import Aggregate
from sqlext_udfs.windows.triggers.tree import AfterCount, EveryRow, Repeat

from .conftest import Analysis

CHANGES = """
CREATE TABLE changes (id INT, who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/changes', 'format' = 'debezium-json');
CREATE TABLE plain (who STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'json');
CREATE TABLE out_changes (who STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'debezium-json');
CREATE VIEW counts AS SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name;
"""
COUNTS = "(SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name)"


@pytest.fixture
def tables(flink: Analysis) -> Analysis:
    flink.run(CHANGES)
    return flink


def test_a_table_of_changes_is_a_changelog(tables: Analysis) -> None:
    plan = tables.plan("SELECT who FROM changes WHERE id > 1")
    assert (plan.changelog, plan.updating) == (True, False)
    assert plan.physical_columns()[-1] == "__row_kind"
    assert tables.times("SELECT * FROM changes") == {"ts": "ROWTIME"}
    grouped = tables.plan("SELECT who, COUNT(*) FROM changes GROUP BY who")
    assert isinstance(grouped, Aggregate)
    assert grouped.kept is not None
    assert grouped.kept.policy.mode == "RETRACTING"


def test_where_changes_cannot_go(tables: Analysis) -> None:
    error = tables.refuse("INSERT INTO plain SELECT who, 1 FROM changes", "SINK-004")
    assert "but `changes` changes rows" in error.message
    tables.refuse("SELECT * FROM changes /*+ OPTIONS('scan.mode' = 'snapshot') */", "OPT-015", "changes /*+")
    tables.run("SET 'execution.runtime-mode' = 'batch'")
    tables.refuse("SELECT * FROM changes", "OPT-015", "changes")


@pytest.mark.parametrize(
    "query", ["SELECT who, 1 FROM changes", f"SELECT * FROM {COUNTS}", "SELECT user_name, 1 FROM clicks"]
)
def test_a_table_of_changes_takes_any_rows(tables: Analysis, query: str) -> None:
    compiled = tables.run(f"INSERT INTO out_changes {query}")
    assert compiled is not None
    assert compiled.insert is not None
    assert compiled.insert.mode == "append"
    assert compiled.script.changelog == ("clicks" not in query or "COUNT" in query)
    assert not compiled.script.updating


def test_every_change_of_a_grouping_is_a_row(tables: Analysis) -> None:
    plan = tables.plan("SELECT * FROM TO_CHANGELOG(input => TABLE counts)")
    assert (plan.changelog, plan.updating) == (False, False)
    assert [c.name for c in plan.columns] == ["op", "user_name", "n"]
    made = next(n for n in walk(plan) if isinstance(n, ToChangelog))
    assert made.codes == ((0, "INSERT"), (1, "UPDATE_BEFORE"), (2, "UPDATE_AFTER"), (3, "DELETE"))
    grouping = next(n for n in walk(plan) if isinstance(n, Aggregate))
    assert grouping.kept is not None
    assert grouping.kept.policy.trigger == Repeat(AfterCount(1))
    over = tables.plan("SELECT * FROM TO_CHANGELOG((SELECT who, COUNT(*) AS n FROM changes GROUP BY who))")
    grouping = next(n for n in walk(over) if isinstance(n, Aggregate))
    assert grouping.kept is not None
    assert grouping.kept.policy.trigger == EveryRow()


def test_codes_of_ones_own(tables: Analysis) -> None:
    query = (
        "SELECT * FROM TO_CHANGELOG(input => TABLE changes, op => DESCRIPTOR(code), "
        "op_mapping => MAP['INSERT, UPDATE_AFTER', 'put', 'DELETE', 'gone'])"
    )
    plan = tables.plan(query)
    assert tables.columns(query)["code"] == "STRING"
    assert tables.times(query) == {}
    made = next(n for n in walk(plan) if isinstance(n, ToChangelog))
    assert made.codes == ((0, "put"), (2, "put"), (3, "gone"))


def test_rows_become_changes(tables: Analysis) -> None:
    mapping = "MAP['c, r', 'INSERT', 'b', 'UPDATE_BEFORE', 'a', 'UPDATE_AFTER']"
    query = f"SELECT * FROM FROM_CHANGELOG(TABLE clicks, DESCRIPTOR(user_name), {mapping})"
    plan = tables.plan(query)
    assert plan.changelog
    assert "user_name" not in tables.columns(query)
    made = next(n for n in walk(plan) if isinstance(n, FromChangelog))
    assert made.codes == (("c", 0), ("r", 0), ("b", 1), ("a", 2))
    there_and_back = "SELECT * FROM FROM_CHANGELOG((SELECT * FROM TO_CHANGELOG(TABLE counts)))"
    assert [c.name for c in tables.plan(there_and_back).columns] == ["user_name", "n"]


@pytest.mark.parametrize(
    ("call", "code", "at"),
    [
        ("TO_CHANGELOG()", "FUNC-038", "TO_CHANGELOG"),
        ("TO_CHANGELOG(input => TABLE counts PARTITION BY user_name)", "FUNC-038", "user_name"),
        ("TO_CHANGELOG(input => TABLE counts, opp => DESCRIPTOR(a))", "FUNC-038", "opp"),
        ("TO_CHANGELOG(input => TABLE counts, op => 'a')", "FUNC-038", "'a'"),
        ("TO_CHANGELOG(input => TABLE counts, op_mapping => MAP['INSRT', 'a'])", "FUNC-038", "'INSRT'"),
        ("TO_CHANGELOG(input => TABLE counts, op_mapping => MAP['INSERT', 1])", "FUNC-038", "MAP"),
        ("TO_CHANGELOG(input => TABLE counts, op_mapping => MAP['INSERT', 'a', 'INSERT', 'b'])", "FUNC-038", "MAP"),
        ("FROM_CHANGELOG(input => TABLE clicks)", "NAME-003", "FROM_CHANGELOG"),
        ("FROM_CHANGELOG(input => TABLE clicks, op => DESCRIPTOR(amount))", "FUNC-039", "DESCRIPTOR"),
        ("FROM_CHANGELOG(input => TABLE counts, op => DESCRIPTOR(user_name))", "FUNC-039", "TABLE counts"),
        ("FROM_CHANGELOG(TABLE clicks, DESCRIPTOR(user_name), MAP['u', 'UPDATE_AFTER'])", "FUNC-038", "MAP"),
        ("TO_CHANGELG(input => TABLE counts)", "FUNC-004", "TO_CHANGELG"),
    ],
)
def test_refusals(tables: Analysis, call: str, code: str, at: str) -> None:
    assert tables.refuse(f"SELECT * FROM {call}", code, at).hint or code == "FUNC-039"
