"""Secrets in WITH of jobs: used, and in no file of the catalog, of checkpoints or of records."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from sqlext.session.needed_secrets import SecretNotice
from tests.workspace import Workspace

CANARY = "c4n4ry-0123456789"
TABLE = """CREATE TABLE totals (k STRING, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{folder}/shop.db', 'table-name' = 'totals',
  'username' = 'app', 'password' = '{secret}');"""
JOB = """CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');
SET 'pipeline.name' = 'fill';
INSERT INTO totals SELECT k, SUM(v) FROM events GROUP BY k;"""
CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"


def table(workspace: Workspace, secret: str) -> str:
    """Return the CREATE TABLE of a database in the workspace's folder."""
    return TABLE.format(folder=workspace.folder, secret=secret)


def rows(workspace: Workspace) -> list[tuple[str, int]]:
    """Return what the database has."""
    with sqlite3.connect(workspace.folder / "shop.db") as database:
        return sorted(database.execute("SELECT k, s FROM totals"))


def holders(folder: Path) -> list[str]:
    """Return the files that hold a secret."""
    return [str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file() and CANARY.encode() in f.read_bytes()]


def test_a_job_has_it_and_leaves_it_nowhere(workspace: Workspace) -> None:
    with sqlite3.connect(workspace.folder / "shop.db") as database:
        database.execute("CREATE TABLE totals (k TEXT PRIMARY KEY, s BIGINT)")
    workspace.put("0.csv", "a,1", "b,2")
    with pytest.warns(SecretNotice, match=r"'password' of `default_catalog\.default_database\.totals`"):
        results = workspace.run(CATCH_UP, table(workspace, CANARY), JOB)
    assert rows(workspace) == [("a", 1), ("b", 2)]
    assert CANARY not in "".join(r.statement for r in results)
    assert CANARY not in repr(workspace.queries())

    later = workspace.session()
    with pytest.raises(SqlExtError, match="OPT-093") as refused:
        workspace.run(CATCH_UP, JOB, session=later)
    assert "'password'" in refused.value.message
    with pytest.raises(SqlExtError, match="OPT-093"):
        later.query("SELECT * FROM totals")
    # Another password is no other query: it goes on from its checkpoint.
    workspace.put("1.csv", "a,3")
    with pytest.warns(SecretNotice):
        workspace.run(CATCH_UP, table(workspace, f"{CANARY}-new"), JOB, session=later)
    assert rows(workspace) == [("a", 4), ("b", 2)]

    with sqlite3.connect(workspace.folder / "shop.db") as database:
        database.execute("DROP TABLE totals")
    with pytest.raises(SqlExtError, match="totals") as failed:
        later.sql("SELECT * FROM totals")
    assert CANARY not in failed.value.render()
    assert holders(workspace.folder) == []


def test_settings_of_spark_are_shown_with_stars(workspace: Workspace) -> None:
    session = workspace.session()
    results = session.run(f"SET my.password = {CANARY}; SET 'my.token' = '{CANARY}'; SET; SET my.password;")
    results.append(session.sql("SET spark.hadoop.fs.s3a.secret.key"))
    shown = repr([(r.statement, r.rows) for r in results])
    assert CANARY not in shown
    assert "******" in shown


def test_a_failure_of_spark_quotes_none(workspace: Workspace) -> None:
    session = workspace.session()
    for text in (
        f"CREATE TABLE x USING jdbc OPTIONS (url 'jdbc:nosuch://h', dbtable 't', password '{CANARY}') AS !;",
        f"CREATE TABLE x USING nosuch OPTIONS (password '{CANARY}');",
    ):
        with pytest.raises(SqlExtError) as failed:
            session.run(text)
        assert CANARY not in failed.value.render()
