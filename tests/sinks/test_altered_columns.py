"""ALTER TABLE DROP, RENAME and MODIFY reach the Delta table, and queries that read and write it go on."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

_TABLES = """
CREATE TABLE sold (k STRING, v INT, gone STRING) WITH ('connector' = 'delta', 'path' = '${IN}/sold');
CREATE TABLE ours (k STRING, v BIGINT, w INT) WITH ('connector' = 'delta', 'path' = '${OUT}/ours');
CREATE TABLE theirs (k STRING, v BIGINT, w INT) WITH ('connector' = 'delta', 'path' = '${OUT}/theirs');
"""
_COPIES = """
SET 'sqlext.bounded' = 'catch-up';
SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';
SET 'pipeline.name' = 'by-arrow'; SET 'sqlext.source' = 'arrow';
INSERT INTO ours SELECT {0}, v, 1 FROM sold;
SET 'pipeline.name' = 'by-spark'; SET 'sqlext.source' = 'spark';
INSERT INTO theirs SELECT {0}, v, 1 FROM sold;
"""
_ALTERS = """
ALTER TABLE sold DROP (gone);
ALTER TABLE sold RENAME k TO item;
ALTER TABLE sold MODIFY (v BIGINT);
ALTER TABLE ours RENAME w TO one;
ALTER TABLE theirs MODIFY (w BIGINT);
"""


@pytest.mark.costly
def test_queries_of_both_readers_go_on_behind_columns_that_changed(workspace: Workspace) -> None:
    workspace.run(_TABLES, "INSERT INTO sold VALUES ('a', 1, 'x');")
    workspace.run(_COPIES.format("k"))
    workspace.run("INSERT INTO sold VALUES ('b', 2, 'unread yet');")
    with pytest.raises(SqlExtError) as refused:
        workspace.run("ALTER TABLE sold MODIFY (k INT);")
    assert refused.value.code == "DDL-033"
    workspace.run(_ALTERS, "INSERT INTO sold VALUES ('c', 3000000000);")
    found = workspace.spark.newSession().read.format("delta").load(str(workspace.input / "sold"))
    assert found.schema.simpleString() == "struct<item:string,v:bigint>"
    with pytest.raises(SqlExtError) as refused:
        workspace.run(_COPIES.format("k"))
    assert refused.value.code == "NAME-003"
    workspace.run(_COPIES.format("item"))
    rows = [("a", "1", "1"), ("b", "2", "1"), ("c", "3000000000", "1")]
    assert (workspace.delta("ours"), workspace.delta("theirs")) == (rows, rows)
    read = workspace.session().run("SELECT item, v FROM sold;")[-1].rows
    assert sorted(read) == [("a", 1), ("b", 2), ("c", 3000000000)]


@pytest.mark.costly
def test_the_same_statement_makes_good_what_broke_off(workspace: Workspace) -> None:
    """The Delta table is changed already, and the catalog is not."""
    workspace.run(_TABLES, "INSERT INTO sold VALUES ('a', 1, 'x');")
    for change in (
        "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')",
        "DROP COLUMNS (gone)",
        "RENAME COLUMN k TO item",
        "ALTER COLUMN v TYPE BIGINT",
    ):
        workspace.spark.sql(f"ALTER TABLE delta.`{workspace.input}/sold` {change}")
    workspace.run(_ALTERS)
    assert workspace.session().run("SELECT item, v FROM sold;")[-1].rows == [("a", 1)]
