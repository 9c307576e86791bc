"""Do to the files of a folder what a commit needs: on a local disk, or in an object store behind a URL.

Names are relative to the folder. An object store has no folders: one that is to be there, though empty, has an object
that readers skip.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from pyarrow import fs

from sqlext.locations import is_remote, local_file, on_disk
from sqlext.stores.naming import naming
from sqlext.stores.object_files import ObjectFiles

#: Readers skip what lies here, by the first character.
STAGING = "_sqlext"


class Files(Protocol):
    """The files of a folder."""

    def make(self) -> None:
        """Make the folder, if it is not there."""

    def sizes(self, below: str) -> Iterator[tuple[str, int]]:
        """Yield names and sizes of the files below a folder; none if it is not there."""

    def move(self, name: str, to: str) -> None:
        """Give a file another name, in place of what has it; does nothing if the file is not there."""

    def delete(self, name: str) -> None:
        """Remove a file; it may be gone already."""

    def delete_below(self, folder: str) -> None:
        """Remove a folder with all files in it; it may be gone already."""

    def delete_empty(self, folder: str) -> None:
        """Remove a folder if nothing is in it."""

    def read(self, name: str) -> str | None:
        """Return a small text, None if there is none."""

    def create(self, name: str, text: str) -> bool:
        """Write a small text, whole or not at all, if none of that name is there; return whether there was none."""

    def advance(self, name: str, number: int) -> None:
        """Write a number in place of a smaller one, or of none."""


def files_at(path: str, settings: Mapping[str, str]) -> Files:
    """Return the files of a folder.

    Args:
        path: as ``absolute`` gives it.
        settings: of object stores.

    Raises:
        SqlExtError: ENV-011 without the package of object stores; RUN-015 for a URL that has no store.
    """
    if is_remote(path):
        return FilesAtUrl(path, settings)
    return LocalFiles(str(local_file(on_disk(path), "part files").absolute()))


class LocalFiles:
    """Files of this machine, or of a mounted disk. Nothing is needed of it but renames."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._fs = fs.LocalFileSystem()

    def make(self) -> None:
        """Make the folder."""
        self._fs.create_dir(self._root, recursive=True)

    def sizes(self, below: str) -> Iterator[tuple[str, int]]:
        """Yield names and sizes."""
        selector = fs.FileSelector(self._at(below), recursive=True, allow_not_found=True)
        for info in self._fs.get_file_info(selector):
            if info.type == fs.FileType.File:
                yield info.path[len(self._root.rstrip("/")) + 1 :], info.size

    def move(self, name: str, to: str) -> None:
        """Rename."""
        if self._exists(name):
            self._make_folder_of(to)
            self._fs.move(self._at(name), self._at(to))

    def delete(self, name: str) -> None:
        """Remove a file."""
        if self._exists(name):
            self._fs.delete_file(self._at(name))

    def delete_below(self, folder: str) -> None:
        """Remove a folder."""
        if self._exists(folder):
            self._fs.delete_dir(self._at(folder))

    def delete_empty(self, folder: str) -> None:
        """Remove a folder."""
        with suppress(OSError):  # not empty, or gone already
            Path(self._at(folder)).rmdir()

    def read(self, name: str) -> str | None:
        """Return a text."""
        return Path(self._at(name)).read_text(encoding="utf-8") if self._exists(name) else None

    def create(self, name: str, text: str) -> bool:
        """Write a text under another name first."""
        if self._exists(name):
            return False
        self._write(name, text)
        return True

    def advance(self, name: str, number: int) -> None:
        """Write a larger number."""
        before = self.read(name)
        if before is None or int(before) < number:
            self._write(name, str(number))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _exists(self, name: str) -> bool:
        return bool(self._fs.get_file_info(self._at(name)).type != fs.FileType.NotFound)

    def _make_folder_of(self, name: str) -> None:
        self._fs.create_dir(self._at(name).rpartition("/")[0], recursive=True)

    def _write(self, name: str, text: str) -> None:
        self._make_folder_of(name)
        temporary = f"{self._at(name)}.tmp"
        with naming(temporary), self._fs.open_output_stream(temporary) as stream:
            stream.write(text.encode())
        self._fs.move(temporary, self._at(name))


class FilesAtUrl:
    """Objects below a URL. What is decided once is decided by a conditional write; a file is moved by a copy."""

    def __init__(self, url: str, settings: Mapping[str, str]) -> None:
        self._objects = ObjectFiles(url, settings)

    def make(self) -> None:
        """Put an object there that stands for the folder."""
        self._objects.create(f"{STAGING}/folder", b"")

    def sizes(self, below: str) -> Iterator[tuple[str, int]]:
        """Yield names and sizes."""
        yield from self._objects.sizes(below)

    def move(self, name: str, to: str) -> None:
        """Copy, then remove: whoever reads sees the whole file under its new name, or nothing."""
        if self._objects.copy(name, to):
            self._objects.discard([name])

    def delete(self, name: str) -> None:
        """Remove an object."""
        self._objects.discard([name])

    def delete_below(self, folder: str) -> None:
        """Remove all objects below a name."""
        self._objects.discard([name for name, _ in self._objects.sizes(folder)])

    def delete_empty(self, folder: str) -> None:
        """Do nothing: there are no folders."""

    def read(self, name: str) -> str | None:
        """Return a text."""
        found = self._objects.read(name)
        return found.data.decode() if found is not None else None

    def create(self, name: str, text: str) -> bool:
        """Write a text in one request, which fails if there is one."""
        return self._objects.create(name, text.encode()) is not None

    def advance(self, name: str, number: int) -> None:
        """Write a larger number, again if another writer came between."""
        text = str(number).encode()
        while (before := self._objects.read(name)) is None or int(before.data) < number:
            if before is None:
                self._objects.create(name, text)
            else:
                self._objects.replace(name, text, before.stamp)
