"""Rows that fail below a join, a grouping or windows: they leave there, and come back as rows of their table, once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

TABLES = """
CREATE TABLE letters (letter STRING, query_name STRING, cause STRING, code STRING, source STRING, text STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
SET 'sqlext.dead-letters.table' = 'letters';
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE a (id INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH
('connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'csv');
CREATE TABLE b (id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED) WITH
('connector' = 'filesystem', 'path' = '${IN}/b', 'format' = 'csv');
CREATE TABLE names (id INT, name STRING) WITH
('connector' = 'filesystem', 'path' = '${IN}/names', 'format' = 'csv', 'scan.mode' = 'snapshot');
CREATE VIEW numbers AS SELECT id, CAST(v AS INT) AS n, ts, PROCTIME() AS p FROM b;
CREATE TABLE found (x STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/found');
CREATE TABLE sums (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH
('connector' = 'delta', 'path' = '${OUT}/found');
"""
#: The query, what it gives, and what it gives when the row has come back.
QUERIES = {
    "join": (
        "INSERT INTO found SELECT s, n FROM a JOIN numbers ON a.id = numbers.id;",
        [("x", "5")],
        [("x", "5"), ("y", "6")],
    ),
    "interval join": (
        """INSERT INTO found SELECT s, n FROM a JOIN numbers AS b ON a.id = b.id
        AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts + INTERVAL '1' MINUTE;""",
        [("x", "5")],
        [("x", "5"), ("y", "6")],
    ),
    "lookup join": (
        "INSERT INTO found SELECT name, n FROM numbers AS b JOIN names FOR SYSTEM_TIME AS OF b.p ON b.id = names.id;",
        [("one", "5")],
        [("one", "5"), ("two", "6")],
    ),
    "temporal join": (
        """INSERT INTO found SELECT v, w FROM (SELECT id, CAST(s AS INT) AS w, ts FROM a) AS r
        JOIN b FOR SYSTEM_TIME AS OF r.ts ON r.id = b.id;""",
        [("5", "7")],
        [("5", "7"), ("z", "6")],
    ),
    "grouping": (
        "INSERT INTO sums SELECT id, SUM(n) FROM numbers GROUP BY id;",
        [("1", "5"), ("9", "0")],
        [("1", "5"), ("2", "6"), ("9", "0")],
    ),
    "windows": (
        """INSERT INTO found SELECT CAST(id AS STRING), SUM(n) FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts),
        INTERVAL '10' SECOND)) WHERE id < 9 GROUP BY id, window_start, window_end;""",
        [],
        [("1", "5"), ("2", "6")],
    ),
}


def put(workspace: Workspace, name: str, *lines: str) -> None:
    path = workspace.input / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    os.utime(path, (1_700_000_000 + len(list(Path(workspace.input).rglob("*.csv"))),) * 2)


def at(second: int) -> str:
    return f"2024-01-01 00:00:{second:02d}.000"


def rows_of(workspace: Workspace) -> list[tuple[str, ...]]:
    """Return what came out, without the rows that only move the watermark."""
    return [row for row in workspace.delta("found") if row[0] != "0"]


@pytest.mark.parametrize("kind", QUERIES)
def test_a_corrected_row_of_one_table_comes_back_once(workspace: Workspace, kind: str) -> None:
    insert, first, then = QUERIES[kind]
    left = kind == "temporal join"
    rows = ("7", "bad") if left else ("x", "y")
    put(workspace, "a/1.csv", f"1,{rows[0]},{at(1)}", f"2,{rows[1]},{at(2)}", f"9,0,{at(9)}")
    put(workspace, "b/1.csv", f"1,5,{at(1)}", f"2,{'z' if left else 'bad'},{at(1)}", f"9,0,{at(9)}")
    put(workspace, "names/1.csv", "1,one", "2,two")
    query = workspace.run(TABLES, insert)[-1].query
    assert rows_of(workspace) == first
    ((_, name, *letter),) = workspace.delta("letters")
    table, column = ("a", "s") if left else ("b", "v")
    assert letter[:3] == ["expression", "RUN-046", f"default_catalog.default_database.{table}"]
    assert json.loads(letter[3])[column] == "bad"
    assert query.progress["dead_letters"] == 1
    read = {"lookup join": 3, "grouping": 3, "windows": 3}.get(kind, 6)
    assert query.progress["rows_in"] == read
    replay = f"REPLAY letters SET {column} = '6', ts = TIMESTAMP '{at(9)}';"
    assert workspace.run(TABLES, replay)[-1].rows == [(name, letter[2], 1, 1, 0)]
    workspace.run(TABLES, insert)
    assert workspace.run(TABLES, replay)[-1].rows == [(name, letter[2], None, 0, 1)]
    put(workspace, "a/2.csv", f"9,0,{at(40)}")
    put(workspace, "b/2.csv", f"9,0,{at(40)}")
    workspace.run(TABLES, insert)
    assert rows_of(workspace) == then
    assert sorted(row[2] for row in workspace.delta("letters")) == ["expression", "replayed"]


def test_a_row_that_is_read_twice_does_not_come_back(workspace: Workspace) -> None:
    """One of the two readings may have used it."""
    put(workspace, "b/1.csv", f"1,5,{at(1)}", f"2,bad,{at(1)}")
    insert = "INSERT INTO found SELECT CAST(x.n AS STRING), y.n FROM numbers AS x JOIN numbers AS y ON x.id = y.id;"
    workspace.run(TABLES, insert)
    assert workspace.delta("found") == [("5", "5")]
    assert [row[2] for row in workspace.delta("letters")] == ["expression"] * 2
    with pytest.raises(SqlExtError) as refused:
        workspace.run(TABLES, "REPLAY letters SET v = '6';")
    assert refused.value.code == "RUN-086"
    assert refused.value.hint == "leave them out: cause <> 'expression'"
