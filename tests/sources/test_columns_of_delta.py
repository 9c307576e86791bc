"""Spark alters a Delta table under a query that runs: what the query does, and its next starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

#: What Spark does, the row that comes then, what Delta's reader makes of it, how the next start is refused, which
#: statement lets it go on, and the row as it is then.
CHANGES = {
    "gets a column": ("ADD COLUMN z STRING", "('x', 1, 'new')", "RUN-082", None, "", ("x", "1")),
    "loses a column": ("DROP COLUMN n", "('x')", "goes on", "OPT-012", "ALTER TABLE t DROP (n);", ("x", "None")),
    "another name": (
        "RENAME COLUMN n TO m",
        "('x', 1)",
        "RUN-082",
        "OPT-012",
        "ALTER TABLE t RENAME n TO m;",
        ("x", "1"),
    ),
    "a wider type": (
        "ALTER COLUMN n TYPE BIGINT",
        "('x', 3000000000)",
        "RUN-082",
        "OPT-012",
        "ALTER TABLE t MODIFY (n BIGINT);",
        ("x", "3000000000"),
    ),
}
HEAD = """SET 'pipeline.name' = 'q';
SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';
SET 'sqlext.source' = 'spark';
"""
TABLES = """CREATE TABLE IF NOT EXISTS t (k STRING, n INT)
WITH ('connector' = 'delta', 'path' = '${IN}/t', 'source.monitor-interval' = '1 s');
CREATE TABLE IF NOT EXISTS o (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/o');
"""


def insert(column: str) -> str:
    return f"INSERT INTO o SELECT k, CAST({column} AS BIGINT) FROM t;"


@pytest.mark.costly
@pytest.mark.sampled(4)
@pytest.mark.parametrize("change", CHANGES)
def test_a_column_that_changes_under_a_query(workspace: Workspace, change: str) -> None:
    statement, row, expected, refused, makes_good, last = CHANGES[change]
    spark, place = workspace.spark.newSession(), Path(workspace.input / "t")
    needs = "enableTypeWidening' = 'true'" if "TYPE" in statement else "columnMapping.mode' = 'name'"
    spark.sql(f"CREATE TABLE delta.`{place}` (k STRING, n INT) USING delta TBLPROPERTIES ('delta.{needs})")
    spark.sql(f"INSERT INTO delta.`{place}` VALUES ('a', 7)")
    session = workspace.session()
    query = workspace.run(HEAD, TABLES, insert("n"), session=session)[-1].query
    workspace.until(lambda: workspace.delta("o") == [("a", "7")])
    spark.sql(f"ALTER TABLE delta.`{place}` {statement}")
    spark.sql(f"INSERT INTO delta.`{place}` VALUES {row}")
    workspace.until(lambda: not query.is_active or len(workspace.delta("o")) > 1)
    found = query.exception.code if query.exception is not None else "goes on"
    session.stop()
    assert found == expected, query.exception
    catch_up = "SET 'sqlext.bounded' = 'catch-up';\n"
    if refused is not None:
        with pytest.raises(SqlExtError) as ended:
            workspace.run(HEAD, catch_up, TABLES, insert("n"))
        assert ended.value.code == refused
    column = {"RENAME": "m", "DROP": "NULL"}.get(statement.split()[0], "n")
    workspace.run(HEAD, makes_good, insert(column), session=(again := workspace.session()))
    workspace.until(lambda: len(workspace.delta("o")) > 1)
    again.stop()
    assert workspace.delta("o") == [("a", "7"), last]
