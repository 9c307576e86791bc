"""A folder or a database that says of itself that it has less than a query wrote there is refused; a new one is not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from sqlext.connectors.filesystem.sink.part_files import FileSink
from sqlext.connectors.jdbc.place import place_of
from sqlext.connectors.jdbc.sink import Writing, noted_place
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.sinks.base import SinkContext
from sqlext.sinks.commit_notes import Commit, CommitNotes
from sqlext.stores.location import Location
from sqlext.types import BIGINT, STRING
from tests.older_copies import put_back


class Files:
    """A query that writes to a folder."""

    def __init__(self, root: Path) -> None:
        self.path, self.notes = root / "files", root / "query"
        self.notes.mkdir()
        self.done = -1

    def sink(self, path: Path | None = None) -> FileSink:
        spec = WriteSpec("filesystem", (WriteColumn("k", STRING),), "t", path=str(path or self.path), format="csv")
        notes = CommitNotes(Location(str(self.notes)), self.done)
        return FileSink(spec, SinkContext("q", "run", notes=notes))

    def write(self, *batches: int, path: Path | None = None) -> None:
        """Start the query, and write batches; the checkpoint counts them as done."""
        sink = self.sink(path)
        sink.require_writable()
        for batch in batches:
            sink.commit(batch, _staging(f"{batch}"))
            self.done = batch

    def refusal(self) -> SqlExtError:
        with pytest.raises(SqlExtError) as refused:
            self.write()
        assert refused.value.code == "RUN-096"
        return refused.value

    def rows(self) -> list[str]:
        return sorted(file.read_text() for file in self.path.glob("part-*"))


def _staging(text: str) -> Callable[[str], None]:
    def stage(where: str) -> None:
        Path(where).mkdir(parents=True)
        (Path(where) / "part-0.csv").write_text(text)

    return stage


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A query that has written batches 0 to 2."""
    found = Files(tmp_path)
    found.write(0, 1, 2)
    return found


def test_an_older_copy_of_a_folder(files: Files) -> None:
    with put_back(files.path):
        files.write(3, 4)
    refused = files.refusal()
    assert "has written micro-batch 4, and" in refused.message
    assert "/done` says 2" in refused.message
    (note,) = (files.notes / "sinks").iterdir()
    assert f"remove `{note}`" in (refused.hint or "")
    note.unlink()
    files.write(5)
    assert files.rows() == ["0", "1", "2", "5"]


def test_a_batch_that_comes_again_may_be_gone(files: Files) -> None:
    with put_back(files.path):
        files.write(3)
        files.done = 2
    files.write(3)
    assert files.rows() == ["0", "1", "2", "3"]


def test_a_folder_that_says_nothing(files: Files) -> None:
    """It was made anew, or the query had come to its end: it leaves no staging."""
    files.sink().finish(None)  # type: ignore[arg-type]
    files.write(3)
    shutil.rmtree(files.path)
    files.write(4)
    assert files.rows() == ["4"]


def test_a_folder_that_the_query_wrote_to_before(files: Files, tmp_path: Path) -> None:
    files.write(3, 4, path=tmp_path / "elsewhere")
    files.write(5)
    assert files.rows() == ["0", "1", "2", "5"]


def test_a_database(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    options = {"url": f"jdbc:sqlite:{database}", "table-name": "t"}
    spec = WriteSpec("jdbc", (WriteColumn("n", BIGINT),), "t", table="t", options=tuple(options.items()))
    writing = Writing(place_of(options), spec, keyed=False, query="q-1", named="q")

    def write(batch: int) -> None:
        writing.write([pa.record_batch([pa.array([batch]), pa.array([True])], ["n", "there"])], batch)

    def started(batch: int) -> None:
        known = replace(writing, expected=Commit(str(writing.place), "q-1", batch, 0), note="/notes/1.json")
        known.check()
        known.prepare()

    writing.prepare()
    for batch in (0, 1):
        write(batch)
    kept = database.read_bytes()
    write(2)
    started(2)
    database.write_bytes(kept)
    with pytest.raises(SqlExtError, match="micro-batch 2, and the table `sqlext_batches` there says 1") as refused:
        started(2)
    assert refused.value.code == "RUN-096"
    assert "`/notes/1.json`" in (refused.value.hint or "")
    started(1)
    database.unlink()
    started(2)


def test_a_login_in_a_url_is_not_noted() -> None:
    place = place_of({"url": "jdbc:postgresql://me:hunter2@host:5432/d", "table-name": "t"})
    assert noted_place(place) == "table `t` of jdbc:postgresql://******@host:5432/d"
