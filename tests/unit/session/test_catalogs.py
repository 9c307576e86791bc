"""DESCRIBE CATALOG and SHOW CREATE CATALOG, and EXPLAIN of a CREATE TABLE AS: what they say, and what they leave."""

from __future__ import annotations

import pytest

from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.session.api import Session
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText


@pytest.fixture
def session() -> Session:
    return Session()


def test_a_catalog_is_described_without_its_secrets(session: Session) -> None:
    session.run("CREATE CATALOG shop COMMENT 'it''s' WITH ('default-database' = 'pens', 'token' = 'planted-4711')")
    (plain,) = session.run("DESCRIBE CATALOG shop")
    assert plain.columns == ("info name", "info value")
    assert plain.rows == [("name", "shop"), ("type", "generic_in_memory"), ("comment", "it's")]
    (extended,) = session.run("DESC CATALOG EXTENDED shop")
    assert extended.rows[3:] == [("option:default-database", "pens"), ("option:token", "******")]


def test_show_create_catalog_makes_the_same_catalog(session: Session) -> None:
    session.run("CREATE CATALOG `my shop` COMMENT 'it''s' WITH ('default-database' = 'pens')")
    (shown,) = session.run("SHOW CREATE CATALOG `my shop`")
    ((text,),) = shown.rows
    session.run("DROP CATALOG `my shop`")
    session.run(text)
    (again,) = session.run("SHOW CREATE CATALOG `my shop`")
    assert again.rows == shown.rows


@pytest.mark.parametrize("statement", ["DESCRIBE CATALOG shp", "SHOW CREATE CATALOG shp", "SHOW DATABASES FROM shp"])
def test_no_such_catalog(session: Session, statement: str) -> None:
    session.run("CREATE CATALOG shop WITH ('type' = 'generic_in_memory')")
    with pytest.raises(SqlExtError) as caught:
        session.run(statement)
    assert (caught.value.code, caught.value.hint) == ("CAT-002", "did you mean `shop`?")
    assert caught.value.span is not None
    assert caught.value.span.start == statement.index("shp")


def test_alter_catalog(session: Session) -> None:
    session.run("CREATE CATALOG shop WITH ('a' = '1', 'b' = '2')")
    session.run("ALTER CATALOG shop SET ('b' = '3', 'default-database' = 'pens', 'token' = 'planted-4711')")
    session.run("ALTER CATALOG shop RESET ('a', 'none')")
    session.run("ALTER CATALOG shop COMMENT 'new'")
    (shown,) = session.run("DESCRIBE CATALOG EXTENDED shop")
    assert shown.rows[2:] == [
        ("comment", "new"),
        ("option:b", "3"),
        ("option:default-database", "pens"),
        ("option:token", "******"),
    ]
    (database,) = session.run("USE CATALOG shop; SHOW CURRENT DATABASE")[1:]
    assert database.rows == [("pens",)]


def test_alter_database(session: Session) -> None:
    session.run("CREATE DATABASE d WITH ('a' = '1'); ALTER DATABASE d SET ('b' = '2')")
    found = session.catalog.snapshot().database("default_catalog", "d")
    assert found is not None
    assert found.options == (("a", "1"), ("b", "2"))


@pytest.mark.parametrize(
    ("statement", "code", "at"),
    [
        ("ALTER CATALOG nope COMMENT 'x'", "CAT-002", "nope"),
        ("ALTER CATALOG default_catalog SET ('type' = 'hive')", "CAT-039", "'hive'"),
        ("ALTER CATALOG default_catalog RESET ('type')", "CAT-039", "ALTER"),
        ("ALTER CATALOG default_catalog RESET ()", "PARSE-002", ")"),
        ("ALTER CATALOG default_catalog RENAME TO c", "PARSE-002", "RENAME"),
        ("ALTER DATABASE nope SET ('a' = 'b')", "CAT-002", "nope"),
        ("ALTER DATABASE default_database RESET ('a')", "PARSE-002", "RESET"),
    ],
)
def test_refused(session: Session, statement: str, code: str, at: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        session.run(statement)
    assert caught.value.code == code
    assert caught.value.span is not None
    assert caught.value.span.start == statement.index(at)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            "'type' = 'jdbc', 'base-url' = 'jdbc:postgresql://h:5432/?password=p', 'default-database' = 'db'",
            "WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h:5432/db', 'table-name' = '...'",
        ),
        ("'type' = 'jdbc', 'base-url' = 'jdbc:mysql://me:secret@h'", "'url' = 'jdbc:.../...'"),
        ("'type' = 'hudi'", "WITH ('connector' = 'spark', 'format' = 'hudi', 'path' = '...')"),
        ("'type' = 'hive'", "`--conf spark.sql.catalogImplementation=hive`"),
        ("'type' = 'dremio'", "WITH ('connector' = ...)"),
    ],
)
def test_another_catalog_is_refused_with_the_way_to_its_tables(session: Session, options: str, told: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        session.run(f"CREATE CATALOG lake WITH ({options})")
    assert caught.value.code == "CAT-039"
    assert told in (caught.value.hint or "")
    assert "secret" not in caught.value.render()[caught.value.render().index("hint:") :]


def explained(text: str) -> str:
    """Return what EXPLAIN says, the last of some statements; show the tables that are there then."""
    state = new_state(None)
    interpreter = Interpreter(state, DryRun(state))
    results = [interpreter.run(s) for s in parse_script(SourceText.of(f"{text}; SHOW TABLES"))]
    assert results[-1].rows == [("src",), ("taken",)]
    return str(results[-2].rows[0][0])


SOURCE = """CREATE TABLE src (k INT, v INT) WITH ('connector' = 'datagen');
CREATE TABLE taken (k INT) WITH ('connector' = 'datagen');
"""


@pytest.mark.parametrize(
    "create",
    ["CREATE TABLE z", "CREATE TABLE IF NOT EXISTS z", "CREATE OR REPLACE TABLE z", "CREATE TABLE IF NOT EXISTS taken"],
)
def test_explain_of_a_create_table_as_makes_no_table(create: str) -> None:
    text = explained(f"{SOURCE} EXPLAIN {create} WITH ('connector' = 'blackhole') AS SELECT k FROM src WHERE v > 1")
    assert "Scan(default_catalog.default_database.src (datagen, stream))" in text
    assert "result:          append" in text


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("CREATE TABLE z (a INT) WITH ('connector' = 'blackhole')", "DDL-040"),
        ("CREATE VIEW z AS SELECT 1", "DDL-040"),
        ("CREATE TABLE z WITH ('connector' = 'blackhole') AS SELECT nope FROM src", "NAME-003"),
    ],
)
def test_explain_of_what_cannot_be_explained(statement: str, code: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        explained(f"{SOURCE} EXPLAIN {statement}")
    assert caught.value.code == code
