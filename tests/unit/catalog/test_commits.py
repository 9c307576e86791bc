"""Commits of the catalog are commits of Delta: delta-rs reads them, and takes over where a table asks for more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from sqlext.errors import SqlExtError
from sqlext.stores.folder import FolderStore
from sqlext_catalog import commits, ddl
from sqlext_catalog.arrow import SCHEMA, to_arrow
from sqlext_catalog.commits import DataFile, is_plain
from sqlext_catalog.log_damage import commit_name
from sqlext_catalog.model import Table
from sqlext_catalog.places import TABLE_FOLDER
from sqlext_catalog.snapshot import Snapshot
from sqlext_catalog.store import CatalogStore, rows_of

MakeTable = Callable[..., Table]


def engine_of(table: DeltaTable) -> str:
    """Return who has made the last commit of a table."""
    (info,) = table.history(1)
    return str(info["engineInfo"]).partition(":")[0]


def table_of(store: CatalogStore) -> DeltaTable:
    return DeltaTable(str(Path(store.directory) / TABLE_FOLDER))


def test_delta_rs_reads_each_commit(store: CatalogStore, make_table: MakeTable) -> None:
    for number, name in enumerate("abc"):
        store.commit(ddl.create(make_table(name)), f"CREATE {name}")
        found = table_of(store)
        assert (found.version(), len(found.file_uris()), engine_of(found)) == (number, 1, "sqlext")
        rows = found.to_pyarrow_dataset().to_table().cast(SCHEMA)
        assert rows.to_pylist() == to_arrow(rows_of(store.snapshot())).to_pylist()
    assert [entry["sqlextOperation"] for entry in found.history()] == ["CREATE c", "CREATE b", "CREATE a"]
    assert is_plain(found)


def test_a_table_is_as_delta_rs_makes_it(store: CatalogStore, make_table: MakeTable, tmp_path: Path) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    rows = to_arrow(rows_of(store.snapshot()))
    made = DeltaTable.create(str(tmp_path / "other"), rows.schema, configuration=commits.PROPERTIES)
    ours = table_of(store)
    assert ours.schema() == made.schema()
    assert (ours.protocol(), ours.metadata().configuration) == (made.protocol(), made.metadata().configuration)


@pytest.mark.parametrize("asked", [{"delta.logRetentionDuration": "interval 1 day"}, {"delta.minWriterVersion": "4"}])
def test_delta_rs_commits_where_a_table_asks_for_more(
    store: CatalogStore, make_table: MakeTable, asked: dict[str, str]
) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    table_of(store).alter.set_table_properties(asked, raise_if_not_exists=False)
    store.commit(ddl.create(make_table("u")), "CREATE")
    assert (table_of(store).version(), engine_of(table_of(store))) == (2, "delta-rs")
    assert [r.name.name for r in CatalogStore(store.directory).snapshot().relations()] == ["t", "u"]


def test_what_a_table_forbids_is_not_done(store: CatalogStore, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    table_of(store).alter.set_table_properties({"delta.appendOnly": "true"})
    with pytest.raises(SqlExtError) as refused:
        store.commit(ddl.create(make_table("u")), "CREATE")
    assert refused.value.code == "CAT-035"
    assert table_of(store).version() == 1


def test_a_version_that_is_there_stays(tmp_path: Path) -> None:
    files, rows = FolderStore(tmp_path), to_arrow(rows_of(Snapshot.empty()))
    first = commits.commit(files, 0, rows, None, {})
    assert first is not None
    kept = files.read(commit_name(0))
    assert kept is not None
    assert kept.stamp == first.stamp
    assert commits.commit(files, 0, rows, None, {}) is None
    assert commits.commit(files, 1, rows, first.file, {}) is not None
    assert commits.commit(files, 1, rows, DataFile("gone", 1), {}) is None
    assert files.read(commit_name(0)) == kept


@pytest.mark.parametrize("made", [True, False])
def test_the_answer_to_a_commit_is_lost(
    store: CatalogStore, make_table: MakeTable, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """A commit that was made counts; one that was not is refused."""
    create = FolderStore.create

    def lost(self: FolderStore, key: str, data: bytes) -> Any:
        if key.endswith(".json"):
            if made:
                create(self, key, data)
            raise OSError("no answer")
        return create(self, key, data)

    store.commit(ddl.create(make_table("t")), "CREATE")
    with monkeypatch.context() as broken:
        broken.setattr(FolderStore, "create", lost)
        if made:
            store.commit(ddl.create(make_table("u")), "CREATE")
        else:
            with pytest.raises(SqlExtError, match="no answer"):
                store.commit(ddl.create(make_table("u")), "CREATE")
    assert len(store.snapshot().relations()) == len(CatalogStore(store.directory).snapshot().relations()) == 1 + made


def test_another_store_knows_what_this_one_has_read(store: CatalogStore, make_table: MakeTable) -> None:
    store.commit(ddl.create(make_table("t")), "CREATE")
    other = store.another()
    assert other.snapshot() is store.snapshot()
    other.commit(ddl.create(make_table("u")), "CREATE")
    store.commit(ddl.create(make_table("v")), "CREATE")
    assert [r.name.name for r in other.snapshot().relations()] == ["t", "u", "v"]
