"""Dead letters of odd rows, and tables of dead letters that change between two runs."""

from __future__ import annotations

import json

import pytest

from sqlext import SqlExtError
from tests.sinks.test_dead_letters_of_sinks import CATCH_UP
from tests.sinks.test_dead_letters_of_sinks import LETTERS as KEPT
from tests.workspace import Workspace

LETTERS = KEPT + CATCH_UP
REST = """a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, b BYTES, d DECIMAL(10, 2), dt DATE,
  tm TIMESTAMP(3), f DOUBLE, bo BOOLEAN"""
TYPES = f"""
CREATE TABLE raw (k STRING, {REST}) WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'json');
CREATE TABLE clean (k INT, {REST}) WITH ('connector' = 'delta', 'path' = '${{OUT}}/clean');
"""
INSERT_TYPES = "INSERT INTO clean SELECT CAST(k AS INT), a, m, r, b, d, dt, tm, f, bo FROM raw;"
ROWS = [
    {"k": "x1", "a": [1, None], "m": {"p": 1, "q\0": None}, "r": {"x": None, "y": "a\0b"}, "b": "AP8=", "d": 12.34,
     "dt": "2024-02-29", "tm": "2024-01-01 00:00:00.123", "f": 1e300, "bo": True},
    {"k": "x2\0\u2028\U0001f600", "a": None, "m": {}, "r": None, "b": "", "d": -0.01, "dt": "0001-01-01",
     "tm": "9999-12-31 23:59:59.999", "f": -0.0, "bo": None},
    {"k": "x3", "a": [], "m": None, "r": {"x": 1, "y": ""}, "b": None, "d": None, "dt": None, "tm": None, "f": None,
     "bo": False},
]  # fmt: skip
CLEAN = [
    ("1", "None", "{}", "None", "b''", "-0.01", "0001-01-01", "9999-12-31 23:59:59.999000", "-0.0", "None"),
    ("1", "[1, None]", "{'p': 1, 'q\\x00': None}", "Row(x=None, y='a\\x00b')", "b'\\x00\\xff'", "12.34", "2024-02-29",
     "2024-01-01 00:00:00.123000", "1e+300", "True"),
    ("1", "[]", "None", "Row(x=1, y='')", "None", "None", "None", "None", "None", "False"),
]  # fmt: skip
SIMPLE = """
CREATE TABLE raw (k STRING, v STRING) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
CREATE TABLE clean (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/clean');
"""
INSERT = "INSERT INTO clean SELECT k, CAST(v AS INT) FROM raw;"


def test_a_row_of_each_type_comes_back_as_it_was(workspace: Workspace) -> None:
    (workspace.input / "0.json").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), "utf-8")
    workspace.run(LETTERS, TYPES, INSERT_TYPES)
    assert workspace.delta("clean") == []
    texts = [json.loads(row[7]) for row in workspace.delta("letters")]
    assert sorted(text["k"] for text in texts) == sorted(str(row["k"]) for row in ROWS)
    workspace.run(LETTERS, TYPES, "REPLAY letters SET k = '1';")
    workspace.run(LETTERS, TYPES, INSERT_TYPES)
    assert workspace.delta("clean") == CLEAN


def test_a_table_that_does_not_take_them_any_more(workspace: Workspace) -> None:
    """The query fails, and goes on with that micro-batch when the table is mended: each row once."""
    table = f"delta.`{workspace.folder / 'out' / 'letters'}`"
    workspace.put("0.csv", "a,1", "b,x")
    workspace.run(LETTERS, SIMPLE, INSERT)
    workspace.spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT c CHECK (text LIKE '%b%')")
    workspace.put("1.csv", "c,y", "d,4")
    with pytest.raises(SqlExtError, match="DELTA_VIOLATE_CONSTRAINT"):
        workspace.run(LETTERS, SIMPLE, INSERT)
    assert len(workspace.delta("letters")) == 1
    workspace.spark.sql(f"ALTER TABLE {table} DROP CONSTRAINT c")
    workspace.run(LETTERS, SIMPLE, INSERT)
    assert workspace.delta("clean") == [("a", "1"), ("d", "4")]
    assert sorted(json.loads(row[7])["k"] for row in workspace.delta("letters")) == ["b", "c"]
    # Another column than those that are declared: refused before anything runs.
    workspace.spark.sql(f"ALTER TABLE {table} ADD COLUMN note STRING")
    with pytest.raises(SqlExtError, match="SINK-091"):
        workspace.run(LETTERS, SIMPLE, INSERT)
