"""Tables of a real PostgreSQL, and of SQLite: jobs that write, read and look them up."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sqlext.errors import SqlExtError
from tests.postgresql_server import PASSWORD, USER
from tests.workspace import EVENTS, Workspace

Rows = list[tuple[Any, ...]]


class Server:
    """A database, and how scripts name it."""

    def __init__(self, url: str, login: Mapping[str, str]) -> None:
        self._url, self._login = url, login

    def table(self, name: str, columns: str, **more: str) -> str:
        """Return a CREATE TABLE; ``__`` in an option stands for ``.``, ``_`` for ``-``."""
        found = {"connector": "jdbc", "url": self._url, "table-name": name.lower(), **self._login}
        found |= {key.replace("__", ".").replace("_", "-"): value for key, value in more.items()}
        options = ", ".join(f"'{key}' = '{value}'" for key, value in found.items())
        return f"CREATE TABLE {name} ({columns}) WITH ({options});\n"

    def ask(self, statement: str) -> Rows:
        """Run a statement as another program does."""
        if "sqlite" in self._url:
            other: Any = sqlite3.connect(self._url.removeprefix("jdbc:sqlite:"), isolation_level=None)
        else:
            host, _, database = self._url.removeprefix("jdbc:postgresql://").partition("/")
            name, _, port = host.partition(":")
            other = psycopg.connect(
                host=name, port=int(port), dbname=database, user=USER, password=PASSWORD, autocommit=True
            )
        try:
            cursor = other.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []
        finally:
            other.close()


@pytest.fixture
def pg(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, with nothing in it."""
    monkeypatch.setenv("PG_PASSWORD", PASSWORD)
    server = Server(postgresql, {"username": USER, "password": "env:PG_PASSWORD"})
    server.ask("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return server


@pytest.fixture(params=["postgresql", "sqlite"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Server:
    """Each of the databases."""
    if request.param == "sqlite":
        return Server(f"jdbc:sqlite:{tmp_path}/x.db", {})
    found: Server = request.getfixturevalue("pg")
    return found


ALL = (
    "k STRING, b BOOLEAN, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, e DECIMAL(12, 3), y BYTES, day DATE, "
    "at TIME(0), wall TIMESTAMP(6), instant TIMESTAMP_LTZ(6)"
)
VALUES = (
    "VALUES ('é''', TRUE, CAST(-1 AS SMALLINT), 2, CAST(3 AS BIGINT), CAST(0.5 AS FLOAT), CAST(0.1 AS DOUBLE), "
    "CAST(1.125 AS DECIMAL(12, 3)), CAST(X'00FF' AS BYTES), DATE '2024-02-29', TIME '23:59:59', "
    "TIMESTAMP '2024-03-10 02:30:00.000005', CAST(TIMESTAMP '2024-01-01 12:00:00' AS TIMESTAMP_LTZ(6)))"
)


def test_values_go_there_and_come_back(workspace: Workspace, server: Server) -> None:
    workspace.run(server.table("Everything", ALL), f"INSERT INTO Everything {VALUES};")
    (row,) = workspace.session().sql("SELECT * FROM Everything").rows
    assert row[:8] == ("é'", True, -1, 2, 3, 0.5, 0.1, Decimal("1.125"))
    assert row[8:11] == (b"\x00\xff", dt.date(2024, 2, 29), dt.time(23, 59, 59))
    assert row[11] == dt.datetime(2024, 3, 10, 2, 30, 0, 5)
    assert str(row[12]).startswith("2024-01-01 12:00:00")


def test_types_of_postgresql(workspace: Workspace, pg: Server) -> None:
    workspace.run(pg.table("arrays", "k STRING, a ARRAY<INT>, t ARRAY<STRING>"))
    workspace.run("INSERT INTO arrays VALUES ('x', ARRAY[1, 2], ARRAY['a', 'b']);")
    assert pg.ask("SELECT * FROM arrays") == [("x", [1, 2], ["a", "b"])]
    assert [tuple(map(str, r)) for r in workspace.session().sql("SELECT t[0], a[1] FROM arrays").rows] == [("a", "2")]
    pg.ask("CREATE TABLE foreign_ (id uuid, j jsonb, n numeric, c char(3), m money, z timestamptz)")
    pg.ask("INSERT INTO foreign_ VALUES ('00000000-0000-0000-0000-000000000001', '{\"a\": 1}', 1.005, 'x', 5, now())")
    workspace.run(pg.table("foreign_", "id STRING, j STRING, n DECIMAL(10, 2), c STRING, m STRING"))
    (row,) = workspace.session().sql("SELECT id, j, n, c, m FROM foreign_").rows
    assert row[:4] == ("00000000-0000-0000-0000-000000000001", '{"a": 1}', Decimal("1.01"), "x")
    workspace.run("INSERT INTO foreign_ VALUES ('00000000-0000-0000-0000-000000000002', '[]', 2, 'y', '7');")
    assert pg.ask("SELECT j, n FROM foreign_ WHERE c = 'y'") == [([], Decimal("2.00"))]
    workspace.run(pg.table("other", "z TIMESTAMP(3)", table_name="foreign_"))
    with pytest.raises(SqlExtError, match="has type timestamptz, declared is TIMESTAMP"):
        workspace.session().sql("SELECT * FROM other")


def test_a_schema_and_a_name_in_upper_case(workspace: Workspace, pg: Server) -> None:
    pg.ask('CREATE SCHEMA s; CREATE TABLE s."T" (userid int PRIMARY KEY, "Name" text)')
    workspace.run(pg.table("t", "userId INT, Name STRING, PRIMARY KEY (userId) NOT ENFORCED", table_name="s.T"))
    workspace.run("INSERT INTO t VALUES (1, 'a');", "INSERT INTO t VALUES (1, 'b');")
    assert pg.ask('SELECT userid, "Name" FROM s."T"') == [(1, "b")]
    assert workspace.session().sql("SELECT Name, userId FROM t").rows == [("b", 1)]


def test_changes_by_key(workspace: Workspace, server: Server) -> None:
    """The largest of each key, as long as it is small: rows are added, replaced and deleted, over a restart."""
    table = server.table("best", "k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED")
    query = "INSERT INTO best SELECT k, MAX(v) FROM events GROUP BY k HAVING MAX(v) < 5;"
    workspace.put("1", "a,1,1", "b,2,2", "c,3,3")
    workspace.run(EVENTS, table, query)
    assert sorted(server.ask("SELECT k, v FROM best")) == [("a", 1), ("b", 2), ("c", 3)]
    workspace.put("2", "a,4,4", "b,9,5")
    workspace.run(query)
    assert sorted(server.ask("SELECT k, v FROM best")) == [("a", 4), ("c", 3)]


def test_a_statement_set_makes_what_is_not_there(workspace: Workspace, server: Server) -> None:
    """Its sinks are asked before one makes its table, and there may be nothing yet: no file, and no table."""
    tables = server.table("rows_", "k STRING, v INT"), server.table("counts_", "k STRING, n BIGINT")
    inserts = (
        "INSERT INTO rows_ SELECT k, v FROM events;",
        "INSERT INTO counts_ SELECT k, CAST(v AS BIGINT) FROM events;",
    )
    workspace.put("1", "a,1,1")
    workspace.run(EVENTS, *tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;")
    assert [server.ask(f"SELECT * FROM {name}") for name in ("rows_", "counts_")] == [[("a", 1)]] * 2


def test_what_a_table_without_a_key_is_refused(workspace: Workspace, server: Server) -> None:
    table = server.table("plain", "k STRING, n BIGINT")
    with pytest.raises(SqlExtError, match="only appends") as raised:
        workspace.run(EVENTS, table, "INSERT INTO plain SELECT k, COUNT(*) FROM events GROUP BY k;")
    assert raised.value.code == "SINK-004"
    with pytest.raises(SqlExtError, match="does not take INSERT OVERWRITE") as raised:
        workspace.run(
            EVENTS,
            table,
            "SET 'execution.runtime-mode' = 'batch';",
            "INSERT OVERWRITE plain SELECT k, CAST(v AS BIGINT) FROM events;",
        )
    assert raised.value.code == "SINK-090"


def test_a_lookup_sees_the_table_as_it_is_at_each_micro_batch(workspace: Workspace, server: Server) -> None:
    """The query looks up the table that it writes: what one micro-batch has counted the next one finds."""
    workspace.run(
        EVENTS.replace("'format'", "'maxFilesPerTrigger' = '1', 'format'"),
        server.table("seen", "k STRING, n INT, PRIMARY KEY (k) NOT ENFORCED"),
    )
    server.ask("CREATE TABLE seen (k VARCHAR(9) PRIMARY KEY, n INT)")
    for number in range(3):
        workspace.put(str(number), "a,1,1", *(["b,1,1"] if number else []))
    workspace.run(
        "INSERT INTO seen SELECT e.k, COALESCE(s.n, 0) + 1 FROM (SELECT *, PROCTIME() AS now FROM events) AS e "
        "LEFT JOIN seen FOR SYSTEM_TIME AS OF e.now AS s ON e.k = s.k;"
    )
    assert sorted(server.ask("SELECT k, n FROM seen")) == [("a", 3), ("b", 2)]


def test_read_in_parts_with_windows_and_in_batch_mode(workspace: Workspace, server: Server) -> None:
    server.ask("CREATE TABLE log_ (n INT, ts TIMESTAMP)")
    server.ask("INSERT INTO log_ VALUES " + ", ".join(f"({n}, '2024-01-01 00:00:{n:02d}')" for n in range(30)))
    parts = {
        "scan__partition__column": "n",
        "scan__partition__num": "3",
        "scan__partition__lower_bound": "0",
        "scan__partition__upper_bound": "24",
        "scan__fetch_size": "4",
    }
    marks = "n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    workspace.run(server.table("log_", marks, **parts))
    windows = (
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE log_, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert sorted(row[1] for row in workspace.session().sql(windows).rows) == [5, 10, 10]
    session = workspace.session()
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(row[1] for row in session.sql(windows).rows) == [5, 10, 10]
    assert session.sql("SELECT SUM(n) FROM log_").rows == [(300,)]


def test_a_wrong_password_is_no_secret(workspace: Workspace, pg: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PG_PASSWORD", "guess-me")
    workspace.run(pg.table("t", "k STRING"))
    with pytest.raises(SqlExtError, match="password authentication failed") as raised:
        workspace.session().sql("SELECT * FROM t")
    assert raised.value.code == "RUN-070"
    assert "guess-me" not in str(raised.value)


def test_a_failure_while_it_writes_is_told(workspace: Workspace, server: Server) -> None:
    workspace.put("1", "a,1,1", "a,1,2")
    server.ask("CREATE TABLE strict (k VARCHAR(9) UNIQUE, v INT)")
    with pytest.raises(SqlExtError, match=r"RUN-070|UNIQUE|unique"):
        workspace.run(EVENTS, server.table("strict", "k STRING, v INT"), "INSERT INTO strict SELECT k, v FROM events;")
    assert server.ask("SELECT * FROM strict") == []
