"""A Delta table gets the columns that ALTER TABLE ADD and 'mergeSchema' give it."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

_CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"
_WITHOUT_STATE = "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';"
_MORE = WINDOWED.replace("SUM(CAST(v AS BIGINT))", "SUM(CAST(v AS BIGINT)), MAX(v)")
_OLD = ("a", "2024-01-01 00:00:00", "1", "1")


def test_a_column_that_alter_table_adds_is_in_the_delta_table(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "a,2,15")
    workspace.run(_CATCH_UP, EVENTS, COUNTS, WINDOWED)
    assert workspace.delta() == [_OLD]
    workspace.put("2.csv", "a,3,21", "a,4,22", "a,9,50")
    session = workspace.session()
    session.run("ALTER TABLE counts ADD (most INT);")
    assert session.run("SELECT most, COUNT(*) FROM counts GROUP BY most;")[-1].rows == [(None, 1)]
    workspace.run(_CATCH_UP, _WITHOUT_STATE, _MORE)
    assert workspace.delta() == [(*_OLD, "None"), ("a", "2024-01-01 00:00:20", "2", "7", "4")]


def test_the_same_statement_makes_good_what_broke_off(workspace: Workspace) -> None:
    """The Delta table has the column already, and the catalog has not."""
    workspace.put("1.csv", "a,1,1")
    workspace.run(EVENTS, COUNTS, WINDOWED)
    workspace.spark.sql(f"ALTER TABLE delta.`{workspace.folder}/out/counts` ADD COLUMNS (most INT)")
    workspace.session().run("ALTER TABLE counts ADD (most INT);")
    workspace.run(_MORE)
    assert workspace.delta() == [(*_OLD, "1"), (*_OLD, "None")]


def test_a_sink_adds_columns_where_its_option_says_so(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1")
    workspace.run(EVENTS, COUNTS, WINDOWED)
    more = COUNTS.replace("CREATE TABLE", "CREATE OR REPLACE TABLE").replace("s BIGINT", "s BIGINT, most INT")
    with pytest.raises(SqlExtError) as refused:
        workspace.run(more, _MORE)
    assert refused.value.code == "SINK-091"
    assert "mergeSchema" in (refused.value.hint or "")
    workspace.run(more.replace("'delta'", "'delta', 'mergeSchema' = 'true'"), _MORE)
    assert workspace.delta() == [(*_OLD, "1"), (*_OLD, "None")]


def test_a_table_that_is_not_there_is_made_when_it_is_written(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1")
    workspace.run(EVENTS, COUNTS, "ALTER TABLE counts ADD (most INT);", _MORE)
    assert workspace.delta() == [(*_OLD, "1")]
