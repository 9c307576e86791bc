"""Flink's rules of what may be created, altered and dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sqlext.errors import SqlExtError
from sqlext.types import BIGINT, INT, TIMESTAMP3
from sqlext_catalog import ddl
from sqlext_catalog.diff import diff
from sqlext_catalog.model import Catalog, Column, Database, ObjectName, PrimaryKey, QueryRecord, Table, View, Watermark
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.snapshot import ChangeFunction

MakeTable = Callable[..., Table]


@pytest.fixture
def session() -> SessionCatalog:
    return SessionCatalog()


def make_view(name: str, **values: object) -> View:
    full = ObjectName("default_catalog", "default_database", name)
    return View(**({"name": full, "columns": ("a",), "query": "SELECT 1"} | values))  # type: ignore[arg-type]


def database(name: str, catalog: str = "default_catalog") -> Database:
    return Database(ObjectName(catalog, name, ""))


def refused(session: SessionCatalog, change: ChangeFunction, code: str) -> SqlExtError:
    before = session.snapshot()
    with pytest.raises(SqlExtError) as caught:
        session.apply(change, "REFUSED")
    assert caught.value.code == code
    assert session.snapshot() is before
    return caught.value


@pytest.mark.parametrize("temporary", [False, True])
def test_create_when_the_name_is_taken(session: SessionCatalog, make_table: MakeTable, temporary: bool) -> None:
    old = make_table("t", temporary=temporary)
    new = replace(old, columns=(Column("a", BIGINT),))
    session.apply(ddl.create(old), "CREATE")
    refused(session, ddl.create(new), "CAT-001")
    session.apply(ddl.create(new, "ignore"), "CREATE")
    assert session.lookup(["t"]) == old
    session.apply(ddl.create(old, "match"), "CREATE")
    error = refused(session, ddl.create(new, "match"), "CAT-003")
    assert "column `a`: INT -> BIGINT" in error.message
    session.apply(ddl.create(new, "replace"), "CREATE")
    assert session.lookup(["t"]) == new


def test_tables_and_views_share_their_names(session: SessionCatalog, make_table: MakeTable) -> None:
    session.apply(ddl.create(make_table("x")), "CREATE")
    refused(session, ddl.create(make_view("x")), "CAT-001")
    refused(session, ddl.create(make_view("x"), "replace"), "CAT-004")
    refused(session, ddl.drop_view(make_table("x").name), "CAT-004")
    refused(session, ddl.alter_view(make_table("x").name, lambda v: v), "CAT-004")
    session.apply(ddl.create(make_view("x"), "ignore"), "CREATE")
    assert isinstance(session.lookup(["x"]), Table)


def test_create_needs_its_database(session: SessionCatalog, make_table: MakeTable) -> None:
    lost = replace(make_table("t"), name=ObjectName("default_catalog", "default_databse", "t"))
    error = refused(session, ddl.create(lost), "CAT-002")
    assert error.hint == "did you mean `default_database`?"
    reserved = replace(make_table("t"), name=ObjectName("default_catalog", "information_schema", "t"))
    refused(session, ddl.create(reserved), "CAT-009")
    refused(session, ddl.create_database(database("information_schema")), "CAT-009")


def test_drop(session: SessionCatalog, make_table: MakeTable) -> None:
    table = make_table("orders")
    session.apply(ddl.create(table), "CREATE")
    missing = table.name._replace(name="order")
    error = refused(session, ddl.drop_table(missing), "CAT-002")
    assert error.hint == "did you mean `orders`?"
    session.apply(ddl.drop_table(missing, if_exists=True), "DROP")
    refused(session, ddl.drop_table(table.name, temporary=True), "CAT-002")
    session.apply(ddl.drop_table(table.name), "DROP")
    assert session.lookup(["orders"]) is None


def test_a_temporary_table_must_be_dropped_before_the_one_it_hides(
    session: SessionCatalog, make_table: MakeTable
) -> None:
    """Flink: "Temporary table with identifier '%s' exists. Drop it first before removing the permanent table."."""
    table = make_table("t")
    session.apply(ddl.create(table), "CREATE")
    session.apply(ddl.create(replace(table, temporary=True)), "CREATE")
    refused(session, ddl.drop_table(table.name), "CAT-007")
    session.apply(ddl.drop_table(table.name, temporary=True), "DROP")
    session.apply(ddl.drop_table(table.name), "DROP")
    assert session.snapshot().relations() == []


def test_alter_table(session: SessionCatalog, make_table: MakeTable) -> None:
    table = make_table("t", options=(("a", "1"), ("b", "2")))
    session.apply(ddl.create(table), "CREATE")
    session.apply(ddl.set_options(table.name, {"b": "3", "c": "4"}), "ALTER")
    session.apply(ddl.reset_options(table.name, ["a"]), "ALTER")
    session.apply(ddl.alter_table(table.name, lambda t: replace(t, comment="x")), "ALTER")
    assert session.lookup(["t"]) == replace(table, options=(("b", "3"), ("c", "4")), comment="x")
    missing = table.name._replace(name="u")
    refused(session, ddl.set_options(missing, {}), "CAT-002")
    session.apply(ddl.set_options(missing, {"a": "b"}, if_exists=True), "ALTER")


def test_alter_view(session: SessionCatalog) -> None:
    view = make_view("v")
    session.apply(ddl.create(view), "CREATE")
    session.apply(ddl.alter_view(view.name, lambda v: replace(v, query="SELECT 2")), "ALTER")
    assert session.lookup(["v"]) == replace(view, query="SELECT 2")


def test_rename(session: SessionCatalog, make_table: MakeTable) -> None:
    table = make_table("t")
    session.apply(ddl.create(table), "CREATE")
    session.apply(ddl.create(make_table("taken")), "CREATE")
    session.apply(ddl.create_database(database("d")), "CREATE")
    refused(session, ddl.rename(table.name, table.name._replace(name="taken")), "CAT-001")
    refused(session, ddl.rename(table.name, table.name._replace(database="d")), "CAT-008")
    refused(session, ddl.rename(table.name, table.name._replace(name="u"), view=True), "CAT-004")
    session.apply(ddl.rename(table.name, table.name._replace(name="u")), "RENAME")
    assert [r.name.name for r in session.snapshot().relations()] == ["taken", "u"]


def test_databases(session: SessionCatalog, make_table: MakeTable) -> None:
    session.apply(ddl.create_database(database("d")), "CREATE")
    refused(session, ddl.create_database(database("d")), "CAT-001")
    session.apply(ddl.create_database(database("d"), if_not_exists=True), "CREATE")
    refused(session, ddl.create_database(database("d", catalog="c")), "CAT-002")
    name = database("d").name
    session.apply(ddl.alter_database(name, {"k": "v"}), "ALTER")
    found = session.snapshot().database("default_catalog", "d")
    assert found is not None
    assert found.options == (("k", "v"),)
    session.apply(ddl.create(replace(make_table("t"), name=name._replace(name="t"))), "CREATE")
    refused(session, ddl.drop_database(name), "CAT-005")
    refused(session, ddl.drop_database(name, cascade=True, current=name[:2]), "CAT-006")
    session.apply(ddl.drop_database(name, cascade=True), "DROP")
    assert (session.snapshot().relations(), len(session.snapshot().databases("default_catalog"))) == ([], 1)
    refused(session, ddl.drop_database(name), "CAT-002")
    session.apply(ddl.drop_database(name, if_exists=True), "DROP")
    refused(session, ddl.drop_database(database("default_database").name), "CAT-006")


def test_catalogs(session: SessionCatalog, make_table: MakeTable) -> None:
    session.apply(ddl.create_catalog(Catalog("c")), "CREATE")
    refused(session, ddl.create_catalog(Catalog("c")), "CAT-001")
    session.apply(ddl.create_catalog(Catalog("c"), if_not_exists=True), "CREATE")
    inside = replace(make_table("t"), name=ObjectName("c", "default_database", "t"))
    session.apply(ddl.create(inside), "CREATE")
    refused(session, ddl.drop_catalog("c", current="c"), "CAT-006")
    refused(session, ddl.drop_catalog("default_catalog"), "CAT-006")
    session.apply(ddl.drop_catalog("c"), "DROP")
    assert len(session.snapshot()) == 2
    refused(session, ddl.drop_catalog("c"), "CAT-002")
    session.apply(ddl.drop_catalog("c", if_exists=True), "DROP")


def test_queries(session: SessionCatalog) -> None:
    record = QueryRecord("q", "INSERT ... WITH ('password' = 'hunter2')", ("a",), "b", "/c", "f", "RUNNING")
    session.apply(ddl.record_query(record), "START q")
    stored = session.snapshot().query("q")
    assert stored is not None
    assert "hunter2" not in stored.statement
    session.apply(ddl.update_query("q", lambda q: replace(q, status="FINISHED", watermark=7)), "STOP q")
    assert session.snapshot().query("q") == replace(stored, status="FINISHED", watermark=7)
    session.apply(ddl.update_query("gone", lambda q: q), "STOP gone")
    refused(session, ddl.drop_query("p"), "CAT-002")
    session.apply(ddl.drop_query("q"), "DROP")
    session.apply(ddl.drop_query("q", if_exists=True), "DROP")
    assert session.snapshot().queries() == []


def test_a_diff_names_everything_that_differs(make_table: MakeTable) -> None:
    old = make_table(
        "t",
        columns=(Column("a", INT), Column("ts", TIMESTAMP3), Column("gone", INT)),
        watermark=Watermark("ts", "ts - INTERVAL '5' SECOND"),
        options=(("path", "x"), ("password", "env:OLD")),
    )
    new = make_table(
        "t",
        columns=(
            Column("a", INT.not_null()),
            Column("ts", TIMESTAMP3),
            Column("b", INT, "computed", "a + 1"),
        ),
        watermark=Watermark("ts", "ts"),
        primary_key=PrimaryKey("PK_a", ("a",)),
        partitioned_by=("b",),
        options=(("password", "hunter2"), ("path", "x")),
        comment="c",
        expressions="flink",
    )
    assert diff(old, new) == [
        "column `a`: INT -> INT NOT NULL",
        "column `gone`: INT -> none",
        "column `b`: none -> INT computed a + 1",
        "watermark: FOR ts AS ts - INTERVAL '5' SECOND -> FOR ts AS ts",
        "primary key: none -> PK_a (a)",
        "partitioned by:  -> b",
        "option 'password': env:OLD -> ******",
        "comment: none -> c",
        "sqlext.expressions: spark -> flink",
    ]
    assert diff(old, replace(old, options=old.options[::-1])) == []
    assert diff(old, replace(old, columns=old.columns[::-1])) == ["order of columns: a, ts, gone -> gone, ts, a"]
    assert diff(make_view("v"), make_view("v", query="SELECT 2")) == ["query: SELECT 1 -> SELECT 2"]
    assert diff(make_view("v"), make_table("v")) == ["kind: view -> table"]
