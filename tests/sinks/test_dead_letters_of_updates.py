"""Dead letters of rows that change: what a sink does not take leaves the row that it has of the key."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from sqlext import SqlExtError
from tests.sinks.test_dead_letters_of_sinks import CATCH_UP
from tests.sinks.test_dead_letters_of_sinks import LETTERS as KEPT
from tests.workspace import EVENTS, Workspace

LETTERS = KEPT + CATCH_UP
ONE_FILE = EVENTS.replace("'format'", "'maxFilesPerTrigger' = '1', 'format'")
COLUMNS = "k STRING, v INT NOT NULL, PRIMARY KEY (k) NOT ENFORCED"
#: How a query says which row a key has: by a grouping of Spark's, and by an operator whose rows are a changelog.
LARGEST = {
    "aggregate": "SELECT k, NULLIF(MAX(v), 5) AS v FROM events GROUP BY k",
    "changelog": """
    SELECT k, NULLIF(v, 5) AS v
    FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM events) WHERE rn = 1""",
}
STAYS = "; the row that the sink has of its key stays"
SOURCE = "default_catalog.default_database.events"


def letters(workspace: Workspace) -> list[tuple[Any, ...]]:
    """Return batch, code, operator, source, and the row of the dead letters, in the order of batches."""
    found = workspace.delta("letters")
    assert len({row[0] for row in found}) == len(found)
    assert {(row[1], row[2]) for row in found} <= {("sql.t", "sink")}
    rows = ((int(row[8]), *row[3:6], json.loads(row[7])) for row in found)
    return sorted(rows, key=lambda row: (row[0], repr(row)))


def delta(workspace: Workspace) -> list[tuple[Any, ...]]:
    return [(k, int(v)) for k, v in workspace.delta("t")]


def database(workspace: Workspace) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(workspace.folder / "x.db")) as connection:
        return connection.execute("SELECT k, v FROM t ORDER BY k").fetchall()


SINKS: dict[str, tuple[str, str, Callable[[Workspace], list[tuple[Any, ...]]]]] = {
    "delta": (COLUMNS, "'connector' = 'delta', 'path' = '${OUT}/t'", delta),
    "delta of any key": ("k STRING, v INT NOT NULL", "'connector' = 'delta', 'path' = '${OUT}/t'", delta),
    "jdbc": (COLUMNS, "'connector' = 'jdbc', 'url' = 'jdbc:sqlite:${IN}/../x.db', 'table-name' = 't'", database),
}


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("query", LARGEST)
def test_the_row_that_is_there_stays(workspace: Workspace, query: str, sink: str) -> None:
    """Until the next one of its key that is fine; across micro-batches and a restart."""
    if (query, sink) == ("changelog", "delta of any key"):
        pytest.skip("a changelog needs a PRIMARY KEY")
    columns, options, there = SINKS[sink]
    (workspace.folder / "x.db").touch()
    table = f"CREATE TABLE t ({columns}) WITH ({options});"
    script = ONE_FILE, LETTERS, table, f"INSERT INTO t {LARGEST[query]};"
    workspace.put("0", "a,1,1", "b,5,2", "c,2,3")
    workspace.put("1", "a,5,4", "b,7,5")
    ran = workspace.run(*script)[-1].query
    assert there(workspace) == [("a", 1), ("b", 7), ("c", 2)]
    refused = [
        (0, "RUN-003", "Sink", SOURCE, {"k": "b", "v": None}),
        (1, "RUN-003", "Sink", SOURCE, {"k": "a", "v": None}),
    ]
    assert letters(workspace) == refused
    assert {row[6] for row in workspace.delta("letters")} == {f"column t.v is NOT NULL{STAYS}"}
    assert ran.progress["dead_letters"] == 2
    workspace.put("2", "a,6,6", "d,5,7")
    workspace.run(*script)
    assert there(workspace) == [("a", 6), ("b", 7), ("c", 2)]
    assert letters(workspace) == [*refused, (2, "RUN-003", "Sink", SOURCE, {"k": "d", "v": None})]


def test_a_row_that_is_gone_takes_its_key_away(workspace: Workspace) -> None:
    """Whatever values it has; one that never came in does no harm; a value that does not fit its type is refused."""
    table = "CREATE TABLE t (k STRING, v TINYINT, PRIMARY KEY (k) NOT ENFORCED) WITH (" + SINKS["delta"][1] + ");"
    insert = "INSERT INTO t SELECT k, SUM(v) AS v FROM events GROUP BY k HAVING COUNT(*) < 3;"
    script = ONE_FILE, LETTERS, table, insert
    workspace.put("0", "a,1,1", "b,500,2", "c,2,3")
    workspace.put("1", "a,200,4", "b,-1,4", "c,3,4")
    workspace.run(*script)
    assert delta(workspace) == [("a", 1), ("c", 5)]
    assert [(row[0], row[1], row[4]) for row in letters(workspace)] == [
        (0, "RUN-041", {"k": "b", "v": 500}),
        (1, "RUN-041", {"k": "a", "v": 201}),
        (1, "RUN-041", {"k": "b", "v": 499}),
    ]
    workspace.put("2", "a,300,5", "b,1,6")
    workspace.run(*script)
    assert delta(workspace) == [("c", 5)]
    assert len(letters(workspace)) == 3


@pytest.mark.parametrize("query", LARGEST)
def test_a_key_that_is_null(workspace: Workspace, query: str) -> None:
    """Each such row is a dead letter of its own; what takes it back later is none, and takes nothing away."""
    table = "CREATE TABLE t (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (" + SINKS["delta"][1] + ");"
    insert = LARGEST[query].replace("SELECT k,", "SELECT IF(k IN ('y', 'z'), NULL, k) AS k,").replace(", 5)", ", -5)")
    workspace.put("0", "a,1,1", "y,5,2", "z,2,3")
    workspace.put("1", "a,2,1", "z,6,3")
    workspace.run(ONE_FILE, LETTERS, table, f"INSERT INTO t {insert};")
    assert delta(workspace) == [("a", 2)]
    assert [(row[0], row[1], row[4]["v"]) for row in letters(workspace)] == [
        (0, "RUN-003", 2),
        (0, "RUN-003", 5),
        (1, "RUN-003", 6),
    ]
    assert {row[6] for row in workspace.delta("letters")} == {"column t.k is NOT NULL"}


def test_what_a_limit_stops_is_in_no_table(workspace: Workspace) -> None:
    table = f"CREATE TABLE t ({COLUMNS}) WITH ({SINKS['delta'][1]});"
    script = ONE_FILE, LETTERS, table, f"INSERT INTO t {LARGEST['aggregate']};"
    workspace.put("0", "a,1,1", "b,5,2")
    workspace.put("1", "a,5,4", "c,5,5", "d,1,5")
    with pytest.raises(SqlExtError) as failed:
        workspace.run("SET 'sqlext.dead-letters.limit' = '1';", *script)
    assert failed.value.code == "RUN-081"
    assert delta(workspace) == [("a", 1)]
    assert len(letters(workspace)) == 1
    workspace.run("SET 'sqlext.dead-letters.limit' = '2';", *script)
    assert delta(workspace) == [("a", 1), ("d", 1)]
    assert len(letters(workspace)) == 3


@pytest.mark.parametrize("query", LARGEST)
def test_printed_changes(workspace: Workspace, query: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What replaces a row of a changelog comes behind what takes that back: the row is gone until the next one."""
    workspace.put("0", "a,1,1", "b,5,2")
    workspace.put("1", "a,5,4", "b,7,5")
    workspace.put("2", "a,6,6")
    table = "CREATE TABLE t (k STRING, v INT NOT NULL) WITH ('connector' = 'print');"
    workspace.run(ONE_FILE, LETTERS, table, f"INSERT INTO t {LARGEST[query]};")
    printed = capsys.readouterr().out.split("\n")[:-1]
    if query == "aggregate":
        assert printed == ["+U[a, 1]", "+U[b, 7]", "+U[a, 6]"]
    else:
        assert printed[0] == "+I[a, 1]"
        assert sorted(printed[1:3]) == ["+U[b, 7]", "-U[a, 1]"]
        assert printed[3:] == ["+U[a, 6]"]
    found = {(row[8], row[6]) for row in workspace.delta("letters")}
    gone = "" if query == "aggregate" else "; the row that it replaces is taken back"
    assert found == {("0", "column t.v is NOT NULL"), ("1", f"column t.v is NOT NULL{gone}")}


def test_they_are_not_fed_back(workspace: Workspace) -> None:
    """Such a row would overwrite what its key has by now."""
    table = f"CREATE TABLE t ({COLUMNS}) WITH ({SINKS['delta'][1]});"
    script = ONE_FILE, LETTERS, table, f"INSERT INTO t {LARGEST['aggregate']};"
    workspace.put("0", "a,5,1")
    workspace.put("1", "a,6,1")
    workspace.run(*script)
    for statement, code in (("REPLAY letters WHERE cause = 'sink';", "DDL-045"), ("REPLAY letters;", "RUN-086")):
        with pytest.raises(SqlExtError) as refused:
            workspace.session().run(statement)
        assert refused.value.code == code
    workspace.run(*script)
    assert delta(workspace) == [("a", 6)]
