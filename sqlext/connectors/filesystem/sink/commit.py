"""Commit the files of a batch to a folder that others read, exactly once.

The rows of a batch are first written to ``path/_sqlext/<query>/<batch>/``, which readers skip by its name. Then

1. a manifest says which staged file becomes which file of the folder (and which files go, for an overwrite);
2. the files are renamed, under names that depend on query, batch and position alone;
3. the batch's number is written to ``done``;
4. what is left of the staging is deleted.

A crash before 1 leaves staging that the next attempt replaces. After 1 the next attempt, which Spark makes with the
same batch number, does not write again but finishes the manifest: a file that is no longer staged has been renamed.
After 3 a repetition does nothing. No step needs a lock: every query has a folder of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from pyarrow import fs

from sqlext.locations import local_file, on_disk

STAGING = "_sqlext"
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
    """A folder that others read, and a query's staging inside it."""

    def __init__(self, path: str, identity: str) -> None:
        self.path = path
        self.identity = identity
        self._fs, self._root = filesystem(path)

    def create(self) -> None:
        """Make the folder, if it is not there."""
        self._fs.create_dir(self._root, recursive=True)

    def is_file(self) -> bool:
        """Return whether a file lies where the folder should be."""
        return bool(self._fs.get_file_info(self._root).type == fs.FileType.File)

    def commit(self, batch_id: int, stage: Callable[[str], None], plan: Callable[[Iterable[str]], FileCommit]) -> None:
        """Write a batch and commit it, or finish a commit that was begun.

        Args:
            batch_id: the batch's number.
            stage: writes the batch's files into the folder that it is given (a path for Spark).
            plan: given the staged files (relative to the staging of the batch), what becomes of them.
        """
        # A crash between `done` and the end of the cleaning has left its staging there.
        if batch_id <= self._last_done():
            self._clean(batch_id)
            return
        if not self._exists(self._manifest(batch_id)):
            staged = f"{STAGING}/{self.identity}/{batch_id}"
            self._delete_folder(staged)
            at_step("before staging")
            stage(f"{self.path.rstrip('/')}/{staged}")
            at_step("staged")
            self._write(self._manifest(batch_id), _to_json(staged, plan(self._data_files(staged))))
            at_step("manifest written")
        self._apply(_from_json(self._read(self._manifest(batch_id))))
        at_step("files renamed")
        self._write(self._done, str(batch_id))
        at_step("done written")
        self._clean(batch_id)

    def forget(self) -> None:
        """Delete the query's staging: its batches will not be repeated any more."""
        self._delete_folder(f"{STAGING}/{self.identity}")
        # Another query that ends at this moment may have removed the folder.
        with suppress(OSError):
            if not self._list(STAGING, recursive=False):
                self._delete_folder(STAGING)

    def visible_files(self) -> Iterator[str]:
        """Return the data files of the folder, relative to it."""
        return self._data_files("")

    def open_staged(self, batch_id: int, name: str) -> fs.FileSystem:
        """Return a staged file, opened for reading."""
        return self._fs.open_input_file(self._at(f"{STAGING}/{self.identity}/{batch_id}/{name}"))

    def staged_size(self, batch_id: int, name: str) -> int:
        """Return a staged file's size in bytes."""
        info = self._fs.get_file_info(self._at(f"{STAGING}/{self.identity}/{batch_id}/{name}"))
        return int(info.size or 0)

    def _apply(self, commit: FileCommit) -> None:
        for name in commit.deletes:
            if self._exists(name):
                self._fs.delete_file(self._at(name))
            at_step("file deleted")
        for staged, final in commit.moves:
            # A file that is no longer staged was renamed before the crash.
            if self._exists(staged):
                self._fs.create_dir(self._at(final.rpartition("/")[0]), recursive=True)
                self._fs.move(self._at(staged), self._at(final))
            at_step("file renamed")

    def _last_done(self) -> int:
        return int(self._read(self._done)) if self._exists(self._done) else -1

    @property
    def _done(self) -> str:
        return f"{STAGING}/{self.identity}/done"

    def _manifest(self, batch_id: int) -> str:
        return f"{STAGING}/{self.identity}/{batch_id}.json"

    def _clean(self, batch_id: int) -> None:
        self._delete_folder(f"{STAGING}/{self.identity}/{batch_id}")
        at_step("staging deleted")
        if self._exists(self._manifest(batch_id)):
            self._fs.delete_file(self._at(self._manifest(batch_id)))

    def _data_files(self, below: str) -> Iterator[str]:
        for info in self._list(below, recursive=True):
            name = info.path[len(self._at(below).rstrip("/")) + 1 :]
            hidden = any(part.startswith(_HIDDEN) and "=" not in part for part in name.split("/"))
            if info.type == fs.FileType.File and not hidden:
                yield name

    def _list(self, below: str, *, recursive: bool) -> list[fs.FileInfo]:
        selector = fs.FileSelector(self._at(below), recursive=recursive, allow_not_found=True)
        return sorted(self._fs.get_file_info(selector), key=lambda info: info.path)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _exists(self, name: str) -> bool:
        return bool(self._fs.get_file_info(self._at(name)).type != fs.FileType.NotFound)

    def _read(self, name: str) -> str:
        with self._fs.open_input_stream(self._at(name)) as stream:
            return bytes(stream.read()).decode()

    def _write(self, name: str, text: str) -> None:
        """Write a small file so that it is there whole or not at all."""
        self._fs.create_dir(self._at(name).rpartition("/")[0], recursive=True)
        temporary = f"{self._at(name)}.tmp"
        with self._fs.open_output_stream(temporary) as stream:
            stream.write(text.encode())
        self._fs.move(temporary, self._at(name))

    def _delete_folder(self, name: str) -> None:
        if self._exists(name):
            self._fs.delete_dir(self._at(name))


def filesystem(path: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a path or of a URL of one, as ``absolute`` gives them, and the path inside it.

    Raises:
        SqlExtError: RUN-014 for a URL elsewhere.
    """
    return fs.LocalFileSystem(), str(local_file(on_disk(path), "part files").absolute())


def _to_json(staged: str, commit: FileCommit) -> str:
    moves = [[f"{staged}/{name}", final] for name, final in commit.moves]
    return json.dumps({"deletes": list(commit.deletes), "moves": moves})


def _from_json(text: str) -> FileCommit:
    found = json.loads(text)
    return FileCommit(tuple(found["deletes"]), tuple((a, b) for a, b in found["moves"]))
