"""What one session sees: names, temporary objects, forks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sqlext.errors import SqlExtError
from sqlext_catalog import ddl
from sqlext_catalog.model import Catalog, Database, ObjectName, Table, View
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.snapshot import Put
from sqlext_catalog.store import CatalogStore

MakeTable = Callable[..., Table]


@pytest.fixture
def session() -> SessionCatalog:
    return SessionCatalog()


def test_names_of_one_to_three_parts(session: SessionCatalog) -> None:
    assert session.resolve(["t"]) == ("default_catalog", "default_database", "t")
    assert session.resolve(["d", "t"]) == ("default_catalog", "d", "t")
    assert session.resolve(["c", "d", "t"]) == ("c", "d", "t")
    for parts in ([], ["a", "b", "c", "d"]):
        with pytest.raises(SqlExtError, match="parts"):
            session.resolve(parts)


def test_names_are_case_sensitive_as_in_flink(session: SessionCatalog, make_table: MakeTable) -> None:
    session.apply([Put(make_table("T"))], "CREATE")
    assert session.lookup(["T"]) is not None
    assert session.lookup(["t"]) is None


def test_use_changes_where_names_are_looked_up(session: SessionCatalog) -> None:
    session.apply(ddl.create_catalog(Catalog("c", default_database="first")), "CREATE CATALOG")
    session.apply(ddl.create_database(Database(ObjectName("c", "second", ""))), "CREATE DATABASE")
    session.use_catalog("c")
    assert session.resolve(["t"]) == ("c", "first", "t")
    session.use_database(["second"])
    assert session.resolve(["t"]) == ("c", "second", "t")
    session.use_database(["default_catalog", "default_database"])
    assert session.resolve(["t"]) == ("default_catalog", "default_database", "t")


def test_use_of_the_unknown_names_what_is_close(session: SessionCatalog) -> None:
    with pytest.raises(SqlExtError) as no_catalog:
        session.use_catalog("default_catalogue")
    with pytest.raises(SqlExtError) as no_database:
        session.use_database(["default_databas"])
    for caught in (no_catalog, no_database):
        assert caught.value.code == "CAT-002"
        assert "did you mean" in (caught.value.hint or "")


def test_temporary_objects_shadow_stored_ones_in_their_session_only(store: CatalogStore, make_table: MakeTable) -> None:
    ours, theirs = SessionCatalog(store), SessionCatalog(CatalogStore(store.directory))
    stored, temporary = make_table("t"), make_table("t", temporary=True, comment="mine")
    ours.apply(ddl.create(stored), "CREATE")
    ours.apply(ddl.create(temporary), "CREATE")
    assert ours.lookup(["t"]) == temporary
    assert theirs.lookup(["t"]) == stored
    assert ours.snapshot().relations() == [temporary]
    assert ours.snapshot().stored(stored.name) == stored
    ours.apply(ddl.drop_table(stored.name, temporary=True), "DROP")
    assert ours.lookup(["t"]) == stored


def test_temporary_objects_write_nothing(store: CatalogStore, make_table: MakeTable) -> None:
    SessionCatalog(store).apply(ddl.create(make_table("t", temporary=True)), "CREATE")
    assert not store.directory.exists()


def test_alter_of_a_temporary_table_stays_temporary(session: SessionCatalog, make_table: MakeTable) -> None:
    table = make_table("t", temporary=True)
    session.apply(ddl.create(table), "CREATE")
    session.apply(ddl.set_options(table.name, {"k": "v"}), "ALTER")
    session.apply(ddl.rename(table.name, table.name._replace(name="u")), "RENAME")
    found = session.lookup(["u"])
    assert isinstance(found, Table)
    assert (found.temporary, found.options) == (True, (("k", "v"),))
    assert session.lookup(["t"]) is None
    assert session.history() == []


def test_a_fork_reaches_neither_the_session_nor_the_store(store: CatalogStore, make_table: MakeTable) -> None:
    session = SessionCatalog(store)
    session.apply(ddl.create(make_table("kept")), "CREATE")
    session.apply(ddl.create(make_table("mine", temporary=True)), "CREATE")
    fork = session.fork()
    fork.apply(ddl.create(make_table("new")), "CREATE")
    fork.apply(ddl.drop_table(make_table("mine").name, temporary=True), "DROP")
    fork.apply(ddl.create_catalog(Catalog("c")), "CREATE")
    fork.use_catalog("c")
    assert fork.lookup(["default_catalog", "default_database", "kept"]) is not None
    assert session.lookup(["new"]) is None
    assert session.lookup(["mine"]) is not None
    assert session.current_catalog == "default_catalog"
    assert store.snapshot().version == 0


def test_candidates_are_the_names_one_would_type(session: SessionCatalog, make_table: MakeTable) -> None:
    session.apply(ddl.create_database(Database(ObjectName("default_catalog", "d", ""))), "CREATE")
    session.apply(ddl.create(make_table("near")), "CREATE")
    session.apply(ddl.create(View(ObjectName("default_catalog", "d", "far"), (), "q")), "CREATE")
    assert session.candidates() == ["d.far", "near"]
    session.use_database(["d"])
    assert session.candidates() == ["far", "default_database.near"]


def test_an_unchanged_catalog_gives_the_same_snapshot(store: CatalogStore, make_table: MakeTable) -> None:
    session = SessionCatalog(store)
    session.apply(ddl.create(make_table("t")), "CREATE")
    session.apply(ddl.create(make_table("u", temporary=True)), "CREATE")
    assert session.snapshot() is session.snapshot()
    version = session.snapshot().version
    session.apply(ddl.drop_table(make_table("t").name), "DROP")
    assert session.at_version(version).get(make_table("t").name) is not None
    assert [v.operation for v in session.history()] == ["DROP", "CREATE"]
