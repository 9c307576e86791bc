"""Dead letters of expressions that fail and of rows that a sink refuses, beside those that cannot be decoded."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Workspace

SCRIPT = """
CREATE TABLE letters (cause STRING, code STRING, operator STRING, place STRING, reason STRING, text STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
SET 'sqlext.dead-letters.table' = 'letters';
CREATE TABLE raw (k STRING, v STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
CREATE TABLE clean (k STRING NOT NULL, v SMALLINT, r INT) WITH ('connector' = 'delta', 'path' = '${OUT}/clean');
"""
INSERT = """
INSERT INTO clean
SELECT NULLIF(k, 'z'), CAST(v AS INT) AS v, 100 % n AS r
FROM (SELECT k, TRIM(v) AS v, n FROM raw) WHERE n >= 0;
"""
INPUT = ("a, 1,3", "b, x,3", "c, 2,0", "d, 70000,3", "z, 5,3", "e, y,-1", "a, 2 ,7", "f,1")
DECODED = "it has not 3 fields"


def test_several_causes_at_once(workspace: Workspace) -> None:
    workspace.put("a.csv", *INPUT)
    query = workspace.run(SCRIPT, INSERT)[-1].query
    assert workspace.delta("clean") == [("a", "1", "1"), ("a", "2", "2")]
    found = workspace.delta("letters")
    assert [row[:3] for row in found] == [
        ("decode", "RUN-066", "Scan"),
        ("expression", "RUN-040", "Project"),
        ("expression", "RUN-046", "Project"),
        ("sink", "RUN-003", "Sink"),
        ("sink", "RUN-041", "Sink"),
    ]
    assert [row[4] for row in found] == [
        DECODED,
        "100 % n: division by zero",
        "CAST(v AS INT): the value cannot be cast",
        "column clean.k is NOT NULL",
        "column clean.v: the value does not fit SMALLINT",
    ]
    assert found[0][5] == "f,1"
    rows = [list(json.loads(row[5]).values()) for row in found[1:]]
    assert rows == [["c", " 2", 0], ["b", " x", 3], [None, 5, 1], ["d", 70000, 1]]
    progress = query.progress
    assert [progress[name] for name in ("rows_in", "rows_out", "rows_bad", "dead_letters")] == [8, 2, 1, 5]


@pytest.mark.sampled
def test_a_select_with_flinks_expressions(workspace: Workspace) -> None:
    workspace.put("a.csv", *INPUT)
    select = "SELECT k, CAST(v AS INT) AS v, 100 / n AS r FROM raw WHERE n >= 0;"
    result = workspace.run("SET 'sqlext.expressions' = 'flink';", SCRIPT, select)[-1]
    assert sorted(result.rows) == [("a", 1, 33), ("a", 2, 14), ("d", 70000, 33), ("z", 5, 33)]
    assert [(row[1], row[4]) for row in workspace.delta("letters")] == [
        ("RUN-066", DECODED),
        ("RUN-040", "100 / n: division by zero"),
        ("RUN-046", "CAST(v AS INT): the value cannot be cast"),
    ]
