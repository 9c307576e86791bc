"""Dead letters of Python functions that raise: of scripts and of the session, whoever reads; REPLAY of them."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

import sqlext
from sqlext import SqlExtError
from tests.workspace import Workspace

LETTERS = """
CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, code STRING, operator STRING, source STRING,
  reason STRING, text STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
"""
SCRIPT = f"""
CREATE FUNCTION grade AS '{__name__}.grade' LANGUAGE PYTHON;
SET 'sqlext.source' = '${{READER}}';
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE raw (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv',
  'csv.null-literal' = '~');
CREATE TABLE clean (k STRING, v INT, price DECIMAL(6, 2)) WITH ('connector' = 'delta', 'path' = '${{OUT}}/clean');
"""
ON = "SET 'sqlext.dead-letters.table' = 'letters';"
GRADE = "grade(COALESCE(v, 1))"
INSERT = """
INSERT INTO clean SELECT k, CASE WHEN v < 100 THEN grade(v) END, priced(k, v) FROM raw WHERE grade(COALESCE(v, 1)) > 0;
"""


def grade(v: int | None) -> object:
    if v == 5:
        return "five"
    return None if v is None else 100 // v


grade.returns = "INT"  # type: ignore[attr-defined]


def priced(k: str, v: int | None) -> Decimal | None:
    return Decimal(v) / len(k.strip("-")) if v is not None else None


def session_of(workspace: Workspace) -> sqlext.Session:
    session = sqlext.connect(workspace.spark, catalog=workspace.folder / "catalog", allow_python_functions=True)
    session.register_function("priced", priced, "DECIMAL(6, 2)")
    return session


def run(workspace: Workspace, *parts: str, reader: str = "auto") -> list[sqlext.Result]:
    variables = {"READER": reader}
    return workspace.run(SCRIPT, LETTERS, *parts, session=session_of(workspace), variables=variables)


@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_rows_for_which_a_function_raises(workspace: Workspace, reader: str) -> None:
    workspace.put("0.csv", "a,4", "b,0", "--,4", "c,5", "dd,~", "e,1000000", "f,200", "g,-1", "h,x")
    query = run(workspace, ON, INSERT, reader=reader)[-1].query
    assert workspace.delta("clean") == [("a", "25", "4.00"), ("dd", "None", "None")]
    found = sorted((row[3], row[4], row[6].partition(" (")[0], row[7]) for row in workspace.delta("letters"))
    assert found == [
        ("RUN-047", "Project", f"{GRADE}: TypeError: the function gives str, and returns INT", '{"k":"c","v":5}'),
        ("RUN-047", "Project", f"{GRADE}: ZeroDivisionError: integer division or modulo by zero", '{"k":"b","v":0}'),
        ("RUN-047", "Project", "priced(k, v): DivisionByZero: [<class 'decimal.DivisionByZero'>]", '{"k":"--","v":4}'),
        ("RUN-066", "Scan", found[-1][2], "h,x"),
    ]
    assert all("test_dead_letters_of_functions.py:" in row[6] for row in workspace.delta("letters") if "Zero" in row[6])
    progress = query.progress
    assert [progress[name] for name in ("rows_in", "rows_out", "dead_letters")] == [9, 2, 4]
    replay = "REPLAY letters WHERE cause = 'expression' AND reason LIKE 'grade%' SET v = v + 1;"
    (fed,) = run(workspace, replay, reader=reader)[-1].rows
    assert fed[3:] == (2, 0)
    run(workspace, ON, INSERT, reader=reader)
    assert workspace.delta("clean") == [
        ("a", "25", "4.00"),
        ("b", "100", "1.00"),
        ("c", "16", "6.00"),
        ("dd", "None", "None"),
    ]
    marks = [json.loads(row[7]) for row in workspace.delta("letters") if row[2] == "replayed"]
    assert sorted(map(str, marks)) == ["{'k': 'b', 'v': 1}", "{'k': 'c', 'v': 6}"]


def test_without_letters_and_in_batch_mode_the_query_fails(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,4", "b,0")
    for mode in ("", ON + "SET 'execution.runtime-mode' = 'batch';"):
        with pytest.raises(SqlExtError) as failed:
            run(workspace, mode, "SELECT k, grade(v) AS g FROM raw;")
        assert failed.value.code == "RUN-047"
        assert "ZeroDivisionError" in failed.value.message
    (row,) = run(workspace, mode, "SELECT grade(v) AS g FROM raw WHERE v > 0;")[-1].rows
    assert tuple(row) == (25,)
    assert run(workspace, "SELECT grade(20) AS g;")[-1].rows[0][0] == 5
