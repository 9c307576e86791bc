"""A crash between any two steps of a batch into a database, and a killed driver: no row twice, and none is missing."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from sqlext.connectors.jdbc import sink
from sqlext.connectors.jdbc.place import place_of
from sqlext.connectors.jdbc.sink import Writing
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.types import BIGINT, STRING
from tests.postgresql_server import PASSWORD, USER
from tests.workspace import EVENTS, Workspace

COLUMNS = (WriteColumn("k", STRING), WriteColumn("n", BIGINT))
BATCHES = ((("a", 1), ("b", 1)), (("b", 2), ("c", 2)), (("a", 3),))

REFUSED = (("a", 1), ("a", 2), ("b", 2), ("c", -1))


class CrashError(BaseException):
    """The worker is gone."""


def asked(options: dict[str, str], statement: str) -> list[tuple[Any, ...]]:
    """Return rows as another program sees them."""
    settings = dict(place_of(options).settings)
    other: Any = sqlite3.connect(settings["database"]) if "database" in settings else psycopg.connect(**settings)
    try:
        return list(other.execute(statement).fetchall())
    finally:
        other.close()


@pytest.fixture(params=["postgresql", "sqlite"])
def options(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A table that is not there yet, in a database."""
    if request.param == "sqlite":
        return {"url": f"jdbc:sqlite:{tmp_path}/x.db", "table-name": "t"}
    monkeypatch.setenv("PG_PASSWORD", PASSWORD)
    url = request.getfixturevalue("postgresql")
    found = {"url": url, "table-name": "t", "username": USER, "password": "env:PG_PASSWORD"}
    with psycopg.connect(**dict(place_of(found).settings), autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return found


def arrow(rows: tuple[tuple[str, int], ...]) -> list[pa.RecordBatch]:
    """Return a batch, each row in a batch of Arrow's own."""
    names = ["k", "n", "__there"]
    return [pa.record_batch([pa.array([k]), pa.array([n]), pa.array([True])], names) for k, n in rows]


@pytest.mark.parametrize("keyed", [False, True])
def test_a_crash_at_each_step(options: dict[str, str], keyed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [0]

    def at_step(name: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise CrashError(name)

    monkeypatch.setattr(sink, "at_step", at_step)
    steps, query, keys = 0, 0, ("k",) if keyed else ()
    spec = WriteSpec("jdbc", COLUMNS, "t", table="t", primary_key=keys, options=tuple(options.items()))
    expected: list[tuple[str, int]] = []
    crashed = True
    while crashed:  # with a step more each time, until none crashes
        steps, query, crashed = steps + 1, query + 1, False
        writing = Writing(place_of(options), spec, keyed, f"q{query}")
        writing.prepare()
        left[0] = steps
        for number, rows in enumerate(BATCHES):
            try:
                writing.write(arrow(rows), number)
            except CrashError:
                crashed = True
                writing.write(arrow(rows), number)
        expected += [row for rows in BATCHES for row in rows]
        now = dict(expected) if keyed else expected
        found = asked(options, "SELECT k, n FROM t")
        assert sorted(found) == sorted(now.items() if isinstance(now, dict) else now)
    assert steps > 12


def test_refused_rows_are_known_whenever_it_crashes(options: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    left = [0]

    def at_step(name: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise CrashError(name)

    monkeypatch.setattr(sink, "at_step", at_step)
    spec = WriteSpec("jdbc", COLUMNS, "t", table="t", options=tuple(options.items()))
    rows = [batch.add_column(2, "__text", pa.array([f"row {n}"])) for n, batch in enumerate(arrow(REFUSED))]
    steps, crashed = 0, True
    place_of(options).database.make_room(dict(place_of(options).settings))
    while crashed:
        steps, crashed = steps + 1, False
        writing = Writing(place_of(options), spec, keyed=False, query=f"q{steps}", limit=LetterLimit())
        with place_of(options).connected() as connection:
            connection.execute("DROP TABLE IF EXISTS t")
            connection.execute("CREATE TABLE t (k varchar(9) UNIQUE, n bigint CHECK (n > 0))")
        writing.prepare()
        left[0] = steps
        try:
            writing.write(rows, 0)
        except CrashError:
            crashed = True
        left[0] = 0
        found = writing.write(rows, 0)
        assert [row.text for row in found.refused] == ["row 1", "row 3"]
        assert sorted(asked(options, "SELECT k, n FROM t")) == [("a", 1), ("b", 2)]
    assert steps > 7


@pytest.mark.slow
@pytest.mark.parametrize("options", ["postgresql"], indirect=True)
def test_a_killed_driver(workspace: Workspace, options: dict[str, str]) -> None:
    """The table has a batch of which Spark does not know."""
    login = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    script = (
        EVENTS.replace("'format'", "'maxFilesPerTrigger' = '1', 'format'")
        + f"CREATE TABLE t (k STRING, n BIGINT) WITH ('connector' = 'jdbc'{login});\n"
        + "INSERT INTO t SELECT k, v FROM events;\n"
    )
    for number in range(3):
        workspace.put(str(number), f"a,{number},1", f"a,{number},2")
    workspace.killed(script, "after-commit:2")
    assert len(asked(options, "SELECT * FROM t")) == 4
    workspace.run(script.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
    assert sorted(asked(options, "SELECT k, n FROM t")) == [("a", n) for n in range(3) for _ in "ab"]
