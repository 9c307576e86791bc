"""Dead letters of rows that a sink refuses when it writes them: the others of the batch are written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sqlext import SqlExtError
from sqlext.connectors.jdbc.place import place_of
from tests.postgresql_server import PASSWORD, USER
from tests.workspace import EVENTS, Workspace

LETTERS = """
CREATE TABLE letters (
  letter STRING, query_name STRING, cause STRING, code STRING, operator STRING, source STRING, reason STRING,
  text STRING, batch BIGINT
) WITH ('connector' = 'delta', 'path' = '${OUT}/letters');
SET 'sqlext.dead-letters.table' = 'letters';
"""
CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';\n"
SOURCE = "default_catalog.default_database.events"
Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(params=["postgresql", "sqlite"])
def options(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A table of a database."""
    if request.param == "sqlite":
        (tmp_path / "x.db").touch()
        return {"url": f"jdbc:sqlite:{tmp_path}/x.db", "table-name": "t"}
    monkeypatch.setenv("PG_PASSWORD", PASSWORD)
    url = request.getfixturevalue("postgresql")
    return {"url": url, "table-name": "t", "username": USER, "password": "env:PG_PASSWORD"}


@pytest.fixture
def ask(options: dict[str, str]) -> Ask:
    """Runs a statement as another program does; the database is empty at first."""
    settings = dict(place_of(options).settings)

    def asked(statement: str) -> list[tuple[Any, ...]]:
        sqlite = "database" in settings
        other: Any = sqlite3.connect(settings["database"]) if sqlite else psycopg.connect(**settings, autocommit=True)
        try:
            cursor = other.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []
        finally:
            other.close()

    if "username" in options:
        asked("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return asked


def declared(options: dict[str, str], columns: str) -> str:
    login = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE t ({columns}) WITH ('connector' = 'jdbc'{login});\n"


def letters(workspace: Workspace) -> list[tuple[Any, ...]]:
    """Return code, operator, source, the row and the batch of the dead letters of sinks, in the order of the rows."""
    found = [row for row in workspace.delta("letters") if row[2] == "sink"]
    return sorted([(*row[3:6], json.loads(row[7]), row[8]) for row in found], key=lambda row: str(row[3]))


def test_constraints_that_the_database_alone_knows(workspace: Workspace, options: dict[str, str], ask: Ask) -> None:
    ask("CREATE TABLE t (k varchar(3) UNIQUE, n bigint CHECK (n > 0), at timestamp)")
    table = declared(options, "k STRING, n BIGINT, at TIMESTAMP(6)")
    insert = "INSERT INTO t SELECT CONCAT(k, '!'), 100 / v, ts FROM events;"
    workspace.put("0", "a,1,1", "b,-2,2", "a,5,3", "c,0,4", "d,4,5")
    query = workspace.run(EVENTS, LETTERS, CATCH_UP, table, insert)[-1].query
    assert sorted(ask("SELECT k, n FROM t")) == [("a!", 100), ("d!", 25)]
    assert letters(workspace) == [
        ("RUN-070", "Sink", SOURCE, {"k": "a!", "n": 20, "at": "2024-01-01T00:00:03.000000"}, "0"),
        ("RUN-070", "Sink", SOURCE, {"k": "b!", "n": -50, "at": "2024-01-01T00:00:02.000000"}, "0"),
    ]
    assert (query.progress["rows_out"], query.progress["dead_letters"]) == (2, 3)
    workspace.put("1", "a,1,6", "e,2,7")
    workspace.run(EVENTS, LETTERS, CATCH_UP, table, insert)
    assert len(letters(workspace)) == 3
    assert len({row[0] for row in workspace.delta("letters")}) == 4
    assert sorted(row[0] for row in ask("SELECT k FROM t")) == ["a!", "d!", "e!"]


def test_rows_of_windows_and_a_limit(workspace: Workspace, options: dict[str, str], ask: Ask) -> None:
    ask("CREATE TABLE t (k varchar(3) PRIMARY KEY, n bigint CHECK (n < 3))")
    table = declared(options, "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED")
    insert = """
    INSERT INTO t SELECT k, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
    """
    workspace.put("0", "a,1,1", "b,2,2", "b,5,3", "b,0,4", "c,4,5", "c,4,5", "c,4,5", "z,1,40")
    limited = "SET 'sqlext.dead-letters.limit' = '1';"
    with pytest.raises(SqlExtError) as failed:
        workspace.run(EVENTS, LETTERS, table, limited, insert)
    assert failed.value.code == "RUN-081"
    assert "query `sql.t` has 2 dead letters beside 2 rows" in failed.value.message
    assert ask("SELECT * FROM t") == []
    assert letters(workspace) == []
    query = workspace.run(EVENTS, LETTERS, table, "SET 'sqlext.dead-letters.limit' = '2';", insert)[-1].query
    assert sorted(ask("SELECT k, n FROM t")) == [("a", 1), ("z", 1)]
    assert [row[3] for row in letters(workspace)] == [{"k": "b", "n": 3}, {"k": "c", "n": 3}]
    assert (query.progress["rows_out"], query.progress["dead_letters"]) == (2, 2)


DELTA = "CREATE TABLE d (k STRING, n BIGINT{}) WITH ('connector' = 'delta', 'path' = '${{OUT}}/d');\n"


@pytest.mark.parametrize("keyed", [False, True])
def test_constraints_of_a_delta_table(workspace: Workspace, keyed: bool) -> None:
    """Made by others: NOT NULL and CHECK, of which the declaration does not know."""
    there = f"delta.`{workspace.folder}/out/d`"
    workspace.spark.sql(f"CREATE TABLE {there} (k STRING NOT NULL, n BIGINT) USING DELTA")
    workspace.spark.sql(f"ALTER TABLE {there} ADD CONSTRAINT small CHECK (n < 100 AND k <> 'no')")
    table = DELTA.format(", PRIMARY KEY (k) NOT ENFORCED" if keyed else "")
    table = table if not keyed else table.replace("k STRING", "k STRING NOT NULL")
    insert = "INSERT INTO d SELECT IF(k = 'z', NULL, k) AS k, 100 / v FROM events;"
    if keyed:
        insert = "INSERT INTO d SELECT k, SUM(100 / v) FROM events GROUP BY k;"
    workspace.put("0", "a,2,1", "b,1,2", "no,5,3", *(() if keyed else ("z,4,4", "c,0,5")))
    script = EVENTS, LETTERS, CATCH_UP.replace("catch-up", "finish"), table, insert
    if keyed:
        script = tuple(part.replace("SUM(100 / v)", "SUM(v)") for part in script)
        workspace.put("1", "a,200,6")
    query = workspace.run(*script)[-1].query
    found = [(row[0], row[3]["k"], row[3]["n"]) for row in letters(workspace)]
    if keyed:
        assert workspace.delta("d") == [("b", "1")]
        assert found == [("RUN-090", "a", 202), ("RUN-090", "no", 5)]
        return
    assert workspace.delta("d") == [("a", "50")]
    assert found == [("RUN-090", "b", 100), ("RUN-090", "no", 20), ("RUN-003", None, 25)]
    assert (query.progress["rows_out"], query.progress["dead_letters"]) == (1, 4)
    (why,) = {row[6] for row in workspace.delta("letters") if '"b"' in row[7]}
    assert why == "CHECK small of d does not hold: n < 100 AND k <> 'no'"


def test_nulls_behind_windows_beside_late_rows(workspace: Workspace) -> None:
    """The key is NULL for some windows, whose rows the sink does not take; a late row has NULL in all its columns."""
    table = "CREATE TABLE d (k STRING NOT NULL, n BIGINT NOT NULL) WITH ('connector' = 'delta', 'path' = '${OUT}/d');"
    insert = """
    INSERT INTO d SELECT NULLIF(k, 'z') AS name, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
    """
    events = EVENTS.replace("'format'", "'maxFilesPerTrigger' = '1', 'format'")
    for number, rows in enumerate((("a,1,1", "z,1,2", "z,2,35"), ("a,3,36",), ("b,4,2", "a,no,3"))):
        workspace.put(str(number), *rows)
    query = workspace.run(events, LETTERS, table, insert)[-1].query
    assert workspace.delta("d") == [("a", "1"), ("a", "1")]
    found = sorted((row[2], row[3], row[7]) for row in workspace.delta("letters"))
    assert [row[:2] for row in found] == [
        ("decode", "RUN-066"),
        ("late", "RUN-078"),
        ("sink", "RUN-003"),
        ("sink", "RUN-003"),
    ]
    assert found[2][2] == found[3][2] == '{"name":null,"EXPR$1":1}'
    assert (query.progress["rows_out"], query.progress["dead_letters"]) == (2, 4)
