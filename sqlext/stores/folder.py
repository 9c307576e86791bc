"""Keep bytes in the files of a folder of this machine, or of one that is mounted."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: A file whose name ends so is being written; it is no key.
_UNFINISHED = ".part"
#: How often a folder that is removed meanwhile is made again.
_TRIES = 1_000


class FolderStore:
    """A ``Store`` whose keys are the relative paths of files.

    Args:
        folder: where they lie. It is made with the first file, and goes with the last.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> bytes | None:
        """Return what is kept under a key, None if nothing is."""
        try:
            return (self._folder / key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, in place of what was there; it also outlives a power cut."""
        temporary = self._written(key, data)
        temporary.replace(self._folder / key)

    def create(self, key: str, data: bytes) -> bool:
        """Keep bytes under a key if nothing is there; return whether it was so."""
        temporary = self._written(key, data)
        try:
            # A link, not a rename: it fails where the name is taken, on NFS too.
            os.link(temporary, self._folder / key)
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)
        return True

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with the parts of ``prefix``, in any order."""
        for folder, _, names in os.walk(self._folder / prefix):
            for name in names:
                if not name.endswith(_UNFINISHED):
                    yield (Path(folder) / name).relative_to(self._folder).as_posix()

    def delete(self, key: str) -> None:
        """Remove a file, and the folders that it leaves empty."""
        path = self._folder / key
        path.unlink(missing_ok=True)
        with suppress(OSError):  # not empty, or gone already
            for folder in [*path.parents][: len(Path(key).parts)]:
                folder.rmdir()

    def _written(self, key: str, data: bytes) -> Path:
        """Write bytes beside the file that they are for; return where."""
        path = self._folder / key
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}{_UNFINISHED}")
        # Another owner may remove the folder at any moment.
        for _ in range(_TRIES):
            with suppress(FileNotFoundError, FileExistsError):
                return _write(temporary, data)
        return _write(temporary, data)


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        # Before it gets its name: a file system may store the new name earlier than the bytes.
        os.fsync(stream.fileno())
    return path
