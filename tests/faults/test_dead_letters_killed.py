"""kill -9 within a micro-batch of a query with dead letters: each row is in one of the two tables, once."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.workspace import Workspace

SCRIPT = """
CREATE TABLE raw (k STRING, v STRING) WITH (
  'connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'maxFilesPerTrigger' = '1');
CREATE TABLE letters (cause STRING, text STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
CREATE TABLE clean (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/clean');
SET 'sqlext.dead-letters.table' = 'letters';
INSERT INTO clean SELECT k, CAST(v AS INT) FROM raw;
"""
#: A file is a micro-batch.
INPUT = (("a,1", "a,x", "a"), ("b,y", "b,2"), ("c,3", "c, 4,5"))
LETTERS = [
    ("decode", "a"),
    ("decode", "c, 4,5"),
    ("expression", '{"k":"a","v":"x"}'),
    ("expression", '{"k":"b","v":"y"}'),
]


REFUSED = """
CREATE TABLE raw (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'maxFilesPerTrigger' = '1');
CREATE TABLE letters (cause STRING, text STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
CREATE TABLE clean (k STRING, v INT) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:sqlite:${IN}/../x.db', 'table-name' = 'clean');
SET 'sqlext.dead-letters.table' = 'letters';
INSERT INTO clean SELECT k, v FROM raw;
"""


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("moment", ["between-sinks:2", "after-commit:2"])
def test_rows_that_a_database_refused(workspace: Workspace, moment: str) -> None:
    """The database has committed a batch without a row, and knows it still when the batch comes again."""
    database = workspace.folder / "x.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE clean (k TEXT UNIQUE, v INTEGER CHECK (v > 0))")
    for i, rows in enumerate((("a,1", "b,0"), ("b,2", "a,3", "c,4"), ("d,-1", "e,5"))):
        workspace.put(f"{i}.csv", *rows)
    workspace.killed(REFUSED, moment, seconds=400)
    with closing(sqlite3.connect(database)) as connection:
        # The verdict of a batch that is in is kept: the row stays a dead letter, and is not written too.
        connection.execute("UPDATE clean SET k = 'A' WHERE k = 'a'")
        connection.commit()
    workspace.run(REFUSED)
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT k, v FROM clean ORDER BY v").fetchall()
    assert found == [("A", 1), ("b", 2), ("c", 4), ("e", 5)]
    assert workspace.delta("letters") == [
        ("sink", '{"k":"a","v":3}'),
        ("sink", '{"k":"b","v":0}'),
        ("sink", '{"k":"d","v":-1}'),
    ]


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("moment", ["between-sinks:2", "after-commit:2"])
def test_killed_and_restarted(workspace: Workspace, moment: str) -> None:
    for i, rows in enumerate(INPUT):
        workspace.put(f"{i}.csv", *rows)
    workspace.killed(SCRIPT, moment, seconds=400)
    workspace.run(SCRIPT)
    assert workspace.delta("letters") == LETTERS
    assert workspace.delta("clean") == [("a", "1"), ("b", "2"), ("c", "3")]


UPDATES = """
CREATE TABLE raw (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'maxFilesPerTrigger' = '1');
CREATE TABLE letters (cause STRING, text STRING, batch BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
CREATE TABLE best (k STRING, v INT NOT NULL, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/best');
SET 'sqlext.dead-letters.table' = 'letters';
SET 'sqlext.bounded' = 'catch-up';
INSERT INTO best SELECT k, NULLIF(MAX(v), 5) AS v FROM raw GROUP BY k;
"""


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("moment", ["before-commit:2", "between-sinks:2", "after-commit:2"])
def test_updates_that_a_sink_refused(workspace: Workspace, moment: str) -> None:
    """The old row of a key stays while its new one is a dead letter, and the one after that is written."""
    for i, rows in enumerate((("a,1", "b,5"), ("a,5", "b,6", "c,5"), ("a,7", "d,2"))):
        workspace.put(f"{i}.csv", *rows)
    workspace.killed(UPDATES, moment, seconds=400)
    workspace.run(UPDATES)
    assert workspace.delta("best") == [("a", "7"), ("b", "6"), ("d", "2")]
    assert workspace.delta("letters") == [
        ("sink", '{"k":"a","v":null}', "1"),
        ("sink", '{"k":"b","v":null}', "0"),
        ("sink", '{"k":"c","v":null}', "1"),
    ]
