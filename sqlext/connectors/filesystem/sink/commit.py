"""Commit the files of a batch to a folder that others read, exactly once.

The rows of a batch are first written to ``path/_sqlext/<query>/<batch>/<attempt>/``, which readers skip by its name.
Then

1. a manifest says which staged file becomes which file of the folder (and which files go, for an overwrite);
2. the files get their names, which depend on query, batch and position alone: by renames, at a URL by copies;
3. the batch's number is written to ``done``;
4. what is left of the staging is deleted.

A crash before 1 leaves staging that nobody looks at. After 1 the next attempt, which Spark makes with the same batch
number, does not write again but finishes the manifest: a file that is no longer staged has its name. After 3 a
repetition does nothing. No step needs a lock: every query has a folder of its own. Of two drivers of a query one makes
the manifest of a batch, and the other one finishes it. What a driver was about to do long ago changes nothing then.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO

from sqlext.connectors.filesystem.sink.places import STAGING, files_at
from sqlext.errors import SqlExtError
from sqlext.locations import on_disk
from sqlext.stores.files import FileAccess

#: Spark, Flink and Hive read no file whose name begins so.
_HIDDEN = ("_", ".")


def at_step(name: str) -> None:
    """Do nothing; fault tests put a crash here, between any two steps."""


@dataclass(frozen=True, slots=True)
class FileCommit:
    """What to do to the folder: files to delete, then renames (staged -> final), relative to the folder."""

    deletes: tuple[str, ...]
    moves: tuple[tuple[str, str], ...]


class Folder:
    """A folder that others read, and a query's staging inside it.

    Args:
        path: as ``absolute`` gives it.
        identity: the query's.
        settings: of object stores.
    """

    def __init__(self, path: str, identity: str, settings: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.identity = identity
        self._files = files_at(path, settings or {})
        self._access = FileAccess(settings or {})
        self._attempt = uuid.uuid4().hex
        self._sizes: dict[str, int] = {}  # of what this attempt has staged

    def create(self) -> None:
        """Make the folder, if it is not there."""
        self._files.make()

    def is_file(self) -> bool:
        """Return whether a file lies where the folder should be."""
        return self._access.is_file(on_disk(self.path))

    def commit(self, batch_id: int, stage: Callable[[str], None], plan: Callable[[Iterable[str]], FileCommit]) -> None:
        """Write a batch and commit it, or finish a commit that was begun.

        Args:
            batch_id: the batch's number.
            stage: writes the batch's files into the folder that it is given (a path for Spark).
            plan: given the staged files (relative to the staging of the batch), what becomes of them.
        """
        # A crash between `done` and the end of the cleaning has left its staging there.
        if batch_id <= self.last_done():
            self._clean(batch_id)
            return
        if self._files.read(self._manifest(batch_id)) is None:
            at_step("before staging")
            stage(f"{self.path.rstrip('/')}/{self._staged(batch_id)}")
            at_step("staged")
            self._sizes = dict(self._data_files(self._staged(batch_id)))
            self._files.create(self._manifest(batch_id), _to_json(self._staged(batch_id), plan(sorted(self._sizes))))
            at_step("manifest written")
        manifest = self._files.read(self._manifest(batch_id))
        # Another driver may have come to the end of the batch, and removed its manifest, while this one staged.
        if manifest is not None and batch_id > self.last_done():
            self._apply(self._commit_of(batch_id, manifest))
        at_step("files renamed")
        self._files.advance(self._done, batch_id)
        at_step("done written")
        self._clean(batch_id)

    @property
    def says_done(self) -> str:
        """The file that says which batch was the last one, for messages."""
        return f"{on_disk(self.path).rstrip('/')}/{self._done}"

    def forget(self) -> None:
        """Delete the query's staging: its batches will not be repeated any more."""
        self._files.delete_below(f"{STAGING}/{self.identity}")
        self._files.delete_empty(STAGING)

    def visible_files(self) -> Iterator[str]:
        """Return the data files of the folder, relative to it."""
        return (name for name, _ in self._data_files(""))

    def open_staged(self, batch_id: int, name: str) -> IO[bytes]:
        """Return a file that this attempt has staged, opened for reading."""
        return self._access.opened(f"{on_disk(self.path).rstrip('/')}/{self._staged(batch_id)}/{name}")

    def staged_size(self, name: str) -> int:
        """Return the size in bytes of a file that this attempt has staged."""
        return self._sizes[name]

    def _apply(self, commit: FileCommit) -> None:
        named = {final for _, final in commit.moves}
        for name in commit.deletes:
            # A file that the batch writes anew is replaced: deleted, it might be the new one already.
            if name not in named:
                self._files.delete(name)
            at_step("file deleted")
        for staged, final in commit.moves:
            # A file that is no longer staged got its name before the crash.
            self._files.move(staged, final)
            at_step("file renamed")

    def _commit_of(self, batch_id: int, manifest: str) -> FileCommit:
        try:
            return _from_json(manifest)
        except (ValueError, KeyError, TypeError):
            raise self._damaged(self._manifest(batch_id)) from None

    def last_done(self) -> int:
        """Return the last batch that the folder says it has, -1 where it says nothing; raises RUN-095."""
        text = self._files.read(self._done)
        if text is None:
            return -1
        try:
            return int(text)
        except ValueError:
            raise self._damaged(self._done) from None

    def _damaged(self, name: str) -> SqlExtError:
        """Return the refusal of a file of the staging that cannot be read."""
        return SqlExtError(
            "RUN-095",
            f"`{on_disk(self.path).rstrip('/')}/{name}` is damaged: it says what of a batch is in the folder",
            hint="remove it and run the query again: the batch gets the same files by the same names",
        )

    @property
    def _done(self) -> str:
        return f"{STAGING}/{self.identity}/done"

    def _manifest(self, batch_id: int) -> str:
        return f"{STAGING}/{self.identity}/{batch_id}.json"

    def _staged(self, batch_id: int) -> str:
        return f"{STAGING}/{self.identity}/{batch_id}/{self._attempt}"

    def _clean(self, batch_id: int) -> None:
        self._files.delete_below(f"{STAGING}/{self.identity}/{batch_id}")
        at_step("staging deleted")
        self._files.delete(self._manifest(batch_id))

    def _data_files(self, below: str) -> Iterator[tuple[str, int]]:
        """Yield the files that readers read, relative to a folder, with their sizes in bytes."""
        for name, size in sorted(self._files.sizes(below)):
            inside = name[len(below) :].lstrip("/")
            if not any(part.startswith(_HIDDEN) and "=" not in part for part in inside.split("/")):
                yield inside, size


def _to_json(staged: str, commit: FileCommit) -> str:
    moves = [[f"{staged}/{name}", final] for name, final in commit.moves]
    return json.dumps({"deletes": list(commit.deletes), "moves": moves})


def _from_json(text: str) -> FileCommit:
    found = json.loads(text)
    return FileCommit(tuple(found["deletes"]), tuple((a, b) for a, b in found["moves"]))
