"""kill -9 while dead letters come back: each row is written once, and is marked once."""

from __future__ import annotations

import pytest

from tests.workspace import Workspace

TABLES = """
CREATE TABLE raw (k STRING, v STRING) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, source STRING, text STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
CREATE TABLE clean (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/clean');
SET 'sqlext.dead-letters.table' = 'letters';
SET 'sqlext.bounded' = 'catch-up';
SET 'pipeline.name' = 'cleaning';
"""
INSERT = "INSERT INTO clean SELECT k, CAST(v AS INT) FROM raw;"
REPLAY = "REPLAY letters WHERE cause = 'expression' SET v = '7';"


@pytest.mark.costly
@pytest.mark.parametrize("moment", ["staged:1", "between-sinks:1", "after-commit:1"])
def test_killed_and_restarted(workspace: Workspace, moment: str) -> None:
    workspace.put("0.csv", "a,1", "b,x", "c,y")
    workspace.run(TABLES, INSERT)
    workspace.killed(f"{TABLES}{REPLAY}{INSERT}", moment, seconds=400)
    ((*_, number, _, before),) = workspace.run(TABLES, REPLAY)[-1].rows
    assert (number, before) == (None, 2)
    workspace.run(TABLES, INSERT)
    assert workspace.delta("clean") == [("a", "1"), ("b", "7"), ("c", "7")]
    found = workspace.delta("letters")
    names = sorted(row[0] for row in found if row[2] == "expression")
    assert sorted(row[0] for row in found if row[2] == "replayed") == names
    assert len(set(names)) == 2
