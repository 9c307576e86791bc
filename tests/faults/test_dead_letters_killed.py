"""kill -9 within a micro-batch of a query with dead letters: each row is in one of the two tables, once."""

from __future__ import annotations

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


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("moment", ["between-sinks:2", "after-commit:2"])
def test_killed_and_restarted(workspace: Workspace, moment: str) -> None:
    for i, rows in enumerate(INPUT):
        workspace.put(f"{i}.csv", *rows)
    workspace.killed(SCRIPT, moment, seconds=400)
    workspace.run(SCRIPT)
    assert workspace.delta("letters") == LETTERS
    assert workspace.delta("clean") == [("a", "1"), ("b", "2"), ("c", "3")]
