"""The number of buckets is chosen when a query begins, and kept by it whatever is set later."""

from __future__ import annotations

import json

import pytest

import sqlext
from sqlext import SqlExtError
from tests.workspace import EVENTS, Workspace

SCRIPT = """
CREATE TABLE totals (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/totals');
SET 'sqlext.bounded' = 'catch-up';
INSERT INTO totals SELECT n || k, COUNT(*) FROM (SELECT k, CAST(COUNT(*) AS STRING) AS n FROM events GROUP BY k)
GROUP BY n || k;
"""


def begun_with(workspace: Workspace) -> str:
    (run,) = (workspace.folder / "catalog" / "queries").glob("*/run.json")
    return str(json.loads(run.read_text())["fingerprint"]["state buckets"][0])


def test_a_query_keeps_its_buckets(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "b,2,2")
    workspace.run("SET 'sqlext.state.buckets' = '3';", EVENTS, SCRIPT)
    assert begun_with(workspace) == "3"
    workspace.put("2.csv", "a,3,3", "c,4,4")
    workspace.run("SET 'sqlext.state.buckets' = '16';", EVENTS, SCRIPT)
    assert begun_with(workspace) == "3"
    assert workspace.delta("totals") == [("1b", "1"), ("1c", "1"), ("2a", "1")]


@pytest.mark.parametrize("wrong", ["0", "1025", "-3", "many", "8.0", ""])
def test_numbers_that_cannot_be(wrong: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        sqlext.connect().sql(f"SET 'sqlext.state.buckets' = '{wrong}'")
    assert refused.value.code == "OPT-011"
    assert refused.value.hint == "it is a whole number from 1 to 1024"
