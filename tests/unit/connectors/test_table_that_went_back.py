"""A Delta table whose log has gone back behind a query is refused; whatever else becomes of a table is not."""

from __future__ import annotations

import pickle
import shutil
import threading
import uuid
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from sqlext.connectors.delta.sink.following import Following, batch_of, following
from sqlext.connectors.delta.sink.small_batches import small_batches
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import EXISTS
from sqlext.sinks.base import SinkContext
from sqlext.sinks.commit_notes import CommitNotes
from sqlext.sinks.few_rows import Few
from sqlext.stores.location import Location
from sqlext.types import BIGINT
from tests.older_copies import put_back
from tests.s3_server import BUCKET, S3Server

_SCHEMA = pa.schema([("k", pa.int64())])


class Query:
    """A query that commits micro-batches to a table; each ``run`` is a start of it."""

    def __init__(self, path: Path, folder: Path, mode: str = "append", name: str = "q") -> None:
        self.path, self.folder, self.name = path, folder, name
        self.keys = ("k",) if mode == "upsert" else ()
        exists = EXISTS if mode == "upsert" else None
        self.context = SinkContext(name, "run", mode=mode, keys=self.keys, exists=exists, few=Few(10, 1 << 20))  # type: ignore[arg-type]
        folder.mkdir(exist_ok=True)
        self.done = -1

    def start(self) -> Following:
        """Start it: it refuses what has gone back."""
        notes = CommitNotes(Location(str(self.folder)), self.done)
        found = following(str(self.path), replace(self.context, notes=notes))
        assert found is not None
        found.require_there()
        found.begin()
        return found

    def commit(self, batch: int) -> None:
        """Commit a batch to the table alone."""
        spec = WriteSpec("delta", (WriteColumn("k", BIGINT),), "t", path=str(self.path), primary_key=self.keys)
        rows = pa.table({"k": [batch]}, schema=_SCHEMA)
        if self.keys:
            rows = rows.append_column(EXISTS, pa.array([True]))
        assert small_batches(spec, self.context).write(rows, batch)

    def run(self, *batches: int, dies: bool = False) -> None:
        """Start it, and take batches; if it dies, the checkpoint does not have the last one."""
        running = self.start()
        for batch in batches:
            self.commit(batch)
            running.committed()
        self.done = max((*(b for b in batches[: -1 if dies else None]), self.done))

    def refusal(self) -> SqlExtError:
        """Return why it does not start."""
        with pytest.raises(SqlExtError) as refused:
            self.start()
        return refused.value

    @property
    def note(self) -> Path:
        """The only note of its folder."""
        (found,) = (self.folder / "sinks").iterdir()
        return found


@pytest.fixture(params=["append", "upsert"])
def query(request: pytest.FixtureRequest, tmp_path: Path) -> Query:
    """A query whose batches 0 to 2 are versions 1 to 3 of its table."""
    found = Query(made(tmp_path / "t"), tmp_path / "query", request.param)
    found.run(0)
    found.run(1, 2)
    return found


def made(path: Path) -> Path:
    """Return the path of a new table."""
    DeltaTable.create(str(path), _SCHEMA)
    return path


def commit_file(path: Path, version: int) -> Path:
    """Return the file of a commit."""
    return path / "_delta_log" / f"{version:020}.json"


def rows(path: Path) -> list[int]:
    """Return the rows of a table."""
    return sorted(DeltaTable(str(path)).to_pyarrow_table()["k"].to_pylist())


# --- refused -----------------------------------------------------------------------------------------------------


def test_the_last_commit_is_gone(query: Query) -> None:
    commit_file(query.path, 3).unlink()
    refused = query.refusal()
    assert refused.code == "RUN-096"
    assert f"`{commit_file(query.path, 3)}` is not there" in refused.message
    assert "micro-batch 2 as version 3, and it is at version 2 now" in refused.message
    assert f"remove `{query.note}`" in (refused.hint or "")
    assert "DROP QUERY starts it anew" in (refused.hint or "")
    query.note.unlink()  # what the hint says
    query.run(3)
    assert rows(query.path) == [0, 1, 3]


def test_sparks_summary_of_the_commit_is_left(query: Query) -> None:
    """With that delta-rs does not read the table. Spark does, and goes on."""
    commit_file(query.path, 3).unlink()
    commit_file(query.path, 3).with_suffix(".crc").write_text("{}")
    refused = query.refusal()
    assert refused.code == "RUN-096"
    assert "files of later versions in that folder, such as `00000000000000000003.crc`" in (refused.hint or "")


def test_an_older_copy_is_in_its_place(query: Query) -> None:
    with put_back(query.path):
        query.run(3, 4)
    assert "version 5, and it is at version 3 now" in query.refusal().message
    assert "micro-batch 4" in query.refusal().message


def test_an_older_copy_that_others_have_written_to(query: Query) -> None:
    for version in (3, 2):
        commit_file(query.path, version).unlink()
    other = Query(query.path, query.folder.with_name("other"), name="other")
    other.run(0, 1, 2)
    assert f"`{commit_file(query.path, 3)}` is another commit now" in query.refusal().message
    other.run(3)


def test_it_goes_back_while_a_query_runs(query: Query) -> None:
    running = query.start()
    query.commit(3)
    running.committed()
    commit_file(query.path, 4).unlink()
    query.commit(4)  # as version 4
    with pytest.raises(SqlExtError, match="is another commit now") as refused:
        running.committed()
    assert refused.value.code == "RUN-096"
    query.done = 4
    assert query.refusal().code == "RUN-096"


def test_a_renewed_checkpoint(query: Query) -> None:
    query.context, query.done = replace(query.context, checkpoint="run-1"), -1
    query.start()
    commit_file(query.path, 3).unlink()
    assert query.refusal().code == "RUN-096"


def test_what_an_earlier_batch_had(query: Query) -> None:
    """The last batch comes again; the one before does not."""
    query.run(3, dies=True)
    commit_file(query.path, 4).unlink()
    query.start()
    commit_file(query.path, 3).unlink()
    assert "micro-batch 2" in query.refusal().message


# --- not refused -------------------------------------------------------------------------------------------------


def test_nothing_has_gone_back(query: Query) -> None:
    query.run(3)
    assert rows(query.path) == [0, 1, 2, 3]


def test_a_batch_that_comes_again(query: Query) -> None:
    """A power cut may lose the commit of the batch that was under way: it is written again."""
    query.run(3, dies=True)
    commit_file(query.path, 4).unlink()
    query.run(3)
    assert rows(query.path) == [0, 1, 2, 3]
    commit_file(query.path, 4).unlink()
    assert "micro-batch 3" in query.refusal().message


def test_a_batch_that_was_committed_and_not_noted(query: Query) -> None:
    query.start()
    query.commit(3)  # and it dies
    running = query.start()
    running.committed()  # the sink has found it
    query.done = 3
    commit_file(query.path, 4).unlink()
    assert "micro-batch 3" in query.refusal().message


def test_batches_without_a_commit(query: Query) -> None:
    running = query.start()
    for batch in (3, 4, 5, 6):
        if batch % 2:
            query.commit(batch)
        running.committed()
    query.done = 6
    query.start()
    commit_file(query.path, 5).unlink()
    assert "micro-batch 5" in query.refusal().message


def test_a_table_that_was_restored(query: Query) -> None:
    DeltaTable(str(query.path)).restore(1)
    query.run(3)


def test_a_table_that_was_made_anew(query: Query) -> None:
    shutil.rmtree(query.path)
    query.start()
    made(query.path)
    query.run(3)
    assert rows(query.path) == [3]
    commit_file(query.path, 1).unlink()
    assert "micro-batch 3 as version 1" in query.refusal().message


def test_a_table_that_was_made_anew_and_is_longer(query: Query) -> None:
    shutil.rmtree(query.path)
    made(query.path)
    for _ in range(5):
        write_deltalake(str(query.path), pa.table({"k": [9]}, schema=_SCHEMA), mode="append")
    query.run(3)


def test_a_log_that_was_cleaned_up(query: Query) -> None:
    for _ in range(3):
        write_deltalake(str(query.path), pa.table({"k": [9]}, schema=_SCHEMA), mode="append")
    DeltaTable(str(query.path)).create_checkpoint()
    for version in range(6):
        commit_file(query.path, version).unlink()
    query.run(3)
    assert rows(query.path) == [0, 1, 2, 3, 9, 9, 9]


def test_commits_of_others_that_are_gone(tmp_path: Path) -> None:
    path = made(tmp_path / "t")
    queries = [Query(path, tmp_path / name, name=name) for name in ("a", "b")]
    for query in queries:
        query.run(0)
    commit_file(path, 2).unlink()
    queries[0].start()
    assert "query `b`" in queries[1].refusal().message


def test_a_note_that_cannot_be_read(query: Query) -> None:
    text = query.note.read_text()
    for damaged in ("", "[1]", text[:40], '{"a": 1}', "\x1a"):
        query.note.write_text(damaged)
        query.start()
    query.run(3)
    commit_file(query.path, 4).unlink()
    assert query.refusal().code == "RUN-096"


def test_a_commit_that_is_damaged_is_told_by_who_reads_it(query: Query) -> None:
    for text in ("", "{", "[]"):
        commit_file(query.path, 3).write_text(text)
        query.start()


def test_a_folder_that_is_gone_fails_no_batch(query: Query) -> None:
    running = query.start()
    shutil.rmtree(query.folder)
    query.commit(3)
    running.committed()


# --- elsewhere ---------------------------------------------------------------------------------------------------


def test_another_process_goes_on(query: Query) -> None:
    """Spark Connect writes batches on its server."""
    there = pickle.loads(pickle.dumps(query.start()))
    query.commit(3)
    there.committed()
    query.commit(4)
    there.committed()
    query.done = 4
    commit_file(query.path, 5).unlink()
    assert "micro-batch 4" in query.refusal().message


def test_notes_at_a_url_are_written_beside_the_batches(s3: S3Server, tmp_path: Path) -> None:
    query = Query(made(tmp_path / "t"), tmp_path / "unused")
    place = Location(f"s3a://{BUCKET}/{uuid.uuid4().hex}", s3.settings)
    context = replace(query.context, notes=CommitNotes(place, 1))
    for batch in (0, 1):
        running = following(str(query.path), context)
        assert running is not None
        running.require_there()
        running.begin()
        query.commit(batch)
        running.committed()
        for thread in [t for t in threading.enumerate() if t.name == "sqlext notes of q"]:
            thread.join()
    commit_file(query.path, 2).unlink()
    again = following(str(query.path), context)
    assert again is not None
    with pytest.raises(SqlExtError, match="micro-batch 1") as refused:
        again.require_there()
    assert place.place in (refused.value.hint or "")


def test_nothing_is_noted_where_no_process_reads_the_log() -> None:
    context = SinkContext("q", "run", notes=CommitNotes(Location("/nowhere"), -1))
    assert following("hdfs://host/t", context) is None
    assert following(None, context) is None
    assert following("/t", replace(context, notes=None)) is None


def test_the_batch_of_a_commit() -> None:
    merged = b'{"commitInfo":{"operation":"MERGE"}}\n{"txn":{"appId":"q-1","version":7,"lastUpdated":1}}\n'
    assert [batch_of(merged, writer) for writer in ("q-1", "q-2", "q")] == [7, None, None]
    appended = b'{"commitInfo":{"operation":"WRITE","userMetadata":"sqlext q-1 12"}}\n{"add":{"path":"q-1"}}\n'
    assert [batch_of(appended, writer) for writer in ("q-1", "q")] == [12, None]
