"""The Delta store: versions, conflicts, damage, formats."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from sqlext_catalog import ddl, migrations
from sqlext_catalog.model import Table
from sqlext_catalog.places import TABLE_FOLDER
from sqlext_catalog.rows import Row
from sqlext_catalog.session_catalog import MemoryStore
from sqlext_catalog.snapshot import Change, ChangeFunction, Put, Snapshot
from sqlext_catalog.store import CatalogStore, Store

MakeTable = Callable[..., Table]


@pytest.fixture(params=["delta", "memory"])
def any_store(request: pytest.FixtureRequest, store: CatalogStore) -> Store:
    return store if request.param == "delta" else MemoryStore()


def put(table: Table) -> ChangeFunction:
    return lambda snapshot: [Put(table)]


def test_reading_creates_nothing(store: CatalogStore) -> None:
    snapshot = store.snapshot()
    assert (snapshot.version, store.history()) == (-1, [])
    assert snapshot.database("default_catalog", "default_database") is not None
    assert not store.directory.exists()


def test_each_commit_is_a_version_that_stays_readable(any_store: Store, make_table: MakeTable) -> None:
    first, second = make_table("t"), make_table("t", comment="newer")
    any_store.commit(ddl.create(first), "CREATE TABLE t")
    any_store.commit(ddl.create(second, "replace"), "REPLACE TABLE t")
    assert any_store.snapshot().get(first.name) == second
    assert any_store.snapshot(0).get(first.name) == first
    assert any_store.snapshot(-1).get(first.name) is None
    assert [(v.version, v.operation) for v in any_store.history()] == [
        (1, "REPLACE TABLE t"),
        (0, "CREATE TABLE t"),
    ]
    with pytest.raises(SqlExtError, match="no version 7"):
        any_store.snapshot(7)


def test_no_changes_no_commit(any_store: Store, make_table: MakeTable) -> None:
    any_store.commit(ddl.create(make_table("t")), "CREATE")
    any_store.commit(ddl.create(make_table("t"), "ignore"), "CREATE")
    assert any_store.snapshot().version == 0


def test_a_refused_change_leaves_the_catalog_as_it_was(any_store: Store, make_table: MakeTable) -> None:
    def refuse(snapshot: Snapshot) -> Sequence[Change]:
        raise SqlExtError("CAT-001", "no")

    with pytest.raises(SqlExtError):
        any_store.commit(refuse, "CREATE")
    with pytest.raises(SqlExtError, match="temporary"):
        any_store.commit(lambda _: [Put(make_table("t", temporary=True))], "CREATE")
    assert any_store.snapshot().version == -1


def test_two_stores_of_one_folder_see_each_other(store: CatalogStore, make_table: MakeTable) -> None:
    other = CatalogStore(store.directory)
    assert other.snapshot().version == -1
    store.commit(ddl.create(make_table("t")), "CREATE")
    assert other.snapshot().get(make_table("t").name) == make_table("t")
    other.commit(ddl.drop_table(make_table("t").name), "DROP")
    assert store.snapshot().get(make_table("t").name) is None


def test_a_commit_between_read_and_write_is_a_conflict_and_is_retried(
    store: CatalogStore, make_table: MakeTable
) -> None:
    table = make_table("t")
    store.commit(ddl.create(table), "CREATE")
    seen: list[int] = []

    def late(snapshot: Snapshot) -> Sequence[Change]:
        seen.append(snapshot.version)
        if len(seen) == 1:
            CatalogStore(store.directory).commit(ddl.set_options(table.name, {"a": "1"}), "ALTER")
        return ddl.set_options(table.name, {"b": "2"})(snapshot)

    store.commit(late, "ALTER")
    assert seen == [0, 1]
    found = store.snapshot().get(table.name)
    assert isinstance(found, Table)
    assert found.options == (("a", "1"), ("b", "2"))


def test_first_commit_lost_to_another(store: CatalogStore, make_table: MakeTable) -> None:
    raced: list[int] = []

    def late(snapshot: Snapshot) -> Sequence[Change]:
        raced.append(snapshot.version)
        if len(raced) == 1:
            CatalogStore(store.directory).commit(ddl.create(make_table("t")), "CREATE")
        return ddl.create(make_table("t"))(snapshot)

    with pytest.raises(SqlExtError, match="exists already"):
        store.commit(late, "CREATE")
    assert raced == [-1, 0]


def test_a_folder_made_anew_is_noticed(store: CatalogStore, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("old")), "CREATE")
    store.snapshot()
    (store.directory / TABLE_FOLDER).rename(store.directory / "gone")
    assert store.snapshot().version == -1
    CatalogStore(store.directory).commit(ddl.create(make_table("new")), "CREATE")
    assert [r.name.name for r in store.snapshot().relations()] == ["new"]


def test_versions_beyond_a_checkpoint_of_the_log(store: CatalogStore, make_table: MakeTable) -> None:
    for n in range(53):
        store.commit(ddl.create(make_table("t", comment=str(n)), "replace"), "PUT")
    assert list((store.directory / TABLE_FOLDER / "_delta_log").glob("*.checkpoint.parquet"))
    found = CatalogStore(store.directory)
    assert [found.snapshot(v).get(make_table("t").name).comment for v in (0, 49, 50, 52)] == [  # type: ignore[union-attr]
        "0",
        "49",
        "50",
        "52",
    ]


@pytest.mark.parametrize("damage", ["truncated", "emptied", "emptied before", "data", "garbage"])
def test_damage_is_one_clear_error(store: CatalogStore, make_table: MakeTable, damage: str) -> None:
    for name in ("t", "u", "v"):
        store.commit(ddl.create(make_table(name)), "CREATE")
    folder = store.directory / TABLE_FOLDER
    log = folder / "_delta_log"
    if damage == "truncated":
        (log / f"{2:020}.json").write_text("{")
    elif damage == "emptied":
        (log / f"{2:020}.json").write_text("")
    elif damage == "emptied before":
        (log / f"{1:020}.json").write_text("")
    for data in folder.glob("*.parquet"):
        if damage == "data":
            data.unlink()
        elif damage == "garbage":
            data.write_bytes(b"PAR1 no")
    with pytest.raises(SqlExtError) as caught:
        CatalogStore(store.directory).snapshot()
    assert caught.value.code == "CAT-030"
    assert str(store.directory) in caught.value.message


def test_a_newer_format_asks_for_an_upgrade(
    store: CatalogStore, make_table: MakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr("sqlext_catalog.store.FORMAT", 99)
        store.commit(ddl.create(make_table("t")), "CREATE")
    older = CatalogStore(store.directory)
    with pytest.raises(SqlExtError) as reading:
        older.snapshot()
    with pytest.raises(SqlExtError) as writing:
        older.commit(ddl.create(make_table("u")), "CREATE")
    for caught in (reading, writing):
        assert (caught.value.code, caught.value.hint) == ("CAT-031", "upgrade sqlext")


def test_an_older_format_is_migrated_when_read_and_rewritten_by_the_next_commit(
    store: CatalogStore, make_table: MakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Format 0 is made up: it has no column `comment`, and called the key's options something else."""
    import pyarrow as pa
    from deltalake import write_deltalake

    from sqlext_catalog.arrow import SCHEMA
    from sqlext_catalog.rows import to_row

    old = make_table("t", options=(("old.path", "x"),))
    rows = [{"kind": "format", "name": "0"}, *(to_row(o) for o in Snapshot.empty()), to_row(old)]
    schema = SCHEMA.remove(SCHEMA.get_field_index("comment"))
    write_deltalake(str(store.directory / TABLE_FOLDER), pa.Table.from_pylist(rows, schema=schema))

    def v0_to_v1(rows: list[Row]) -> list[Row]:
        return [
            row | {"comment": None, "options": [(k.removeprefix("old."), v) for k, v in row["options"]]} for row in rows
        ]

    monkeypatch.setitem(migrations.STEPS, 0, v0_to_v1)
    expected = make_table("t", options=(("path", "x"),))
    assert store.snapshot().get(old.name) == expected
    store.commit(ddl.create(make_table("u", comment="kept")), "CREATE")
    monkeypatch.undo()  # no step from 0 any more: the table is of the new format now
    fresh = CatalogStore(store.directory).snapshot()
    assert fresh.get(old.name) == expected
    assert fresh.get(make_table("u").name) == make_table("u", comment="kept")


@pytest.mark.parametrize("folder", ["a b", "ü", "a#b?c", "it's", "a%b", "a;b&c", "~", "{x}", '"q"'])
def test_unusual_folders_work(tmp_path: Path, folder: str, make_table: MakeTable) -> None:
    CatalogStore(tmp_path / folder).commit(ddl.create(make_table("t")), "CREATE")
    CatalogStore(tmp_path / folder).commit(ddl.create(make_table("u")), "CREATE")
    assert len(CatalogStore(tmp_path / folder).snapshot().relations()) == 2
    assert [p.name for p in tmp_path.iterdir()] == [folder]


@pytest.mark.parametrize("folder", ["a%20b", "[x]", "a\nb", "a\\b"])
def test_folders_that_delta_rs_would_misread_are_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        CatalogStore(tmp_path / folder)
    assert caught.value.code == "CAT-032"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text("SELECT 1;")
    with pytest.raises(SqlExtError, match="it is a file") as caught:
        CatalogStore(tmp_path / "job.sql")
    assert caught.value.code == "CAT-032"


HOSTILE = ["../../evil", "/etc/passwd", "a`; DROP TABLE t; --", "a\nb", "..", ".", "file:/x", "a%2Fb", "a" * 255]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_data_and_never_paths(
    tmp_path: Path, store: CatalogStore, make_table: MakeTable, name: str
) -> None:
    table = make_table("t")
    hostile = replace(table, name=table.name._replace(name=name))
    store.commit(ddl.create(hostile), "CREATE")
    assert CatalogStore(store.directory).snapshot().get(hostile.name) == hostile
    outside = [p for p in tmp_path.rglob("*") if store.directory not in (p, *p.parents)]
    assert outside == []


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "a" * 256, "\ud800"])
def test_names_that_cannot_be_stored_are_refused(any_store: Store, make_table: MakeTable, name: str) -> None:
    table = make_table("t")
    for bad in (table.name._replace(name=name), table.name._replace(database=name)):
        with pytest.raises(SqlExtError) as caught:
            any_store.commit(put(replace(table, name=bad)), "CREATE")
        assert caught.value.code == "CAT-020"


def test_text_that_is_not_unicode_is_refused(store: CatalogStore, make_table: MakeTable) -> None:
    with pytest.raises(SqlExtError) as caught:
        store.commit(lambda _: [Put(make_table("t", comment="\ud800"))], "CREATE")
    assert caught.value.code == "CAT-022"


def test_the_log_says_nothing_expires(store: CatalogStore, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    log = (store.directory / TABLE_FOLDER / "_delta_log" / f"{0:020}.json").read_text()
    meta = next(json.loads(line)["metaData"] for line in log.splitlines() if "metaData" in line)
    assert meta["configuration"]["delta.logRetentionDuration"] == "interval 36500 days"


def test_definitions_need_no_heavy_import() -> None:
    code = (
        "import sys, sqlext_catalog.session_catalog as s, sqlext_catalog.store, sqlext_catalog.ddl,"
        " sqlext_catalog.information_schema, sqlext_catalog.properties;"
        "s.SessionCatalog(sqlext_catalog.store.CatalogStore('/nonexistent')).snapshot();"
        "print([m for m in ('pandas', 'pyarrow', 'deltalake', 'numpy', 'pyspark') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_reading_a_stored_catalog_imports_no_pandas(store: CatalogStore, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    code = (
        "import sys; from sqlext_catalog.store import CatalogStore;"
        "print(len(CatalogStore(sys.argv[1]).snapshot().relations()), 'pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(store.directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"
