"""Keep bytes in the files of a folder of this machine, or of one that is mounted.

A file is never changed. A new one gets its name in one step: by a hard link where the name must be free, else by a
rename. Who takes a name from a file holds that file (``flock``) meanwhile, so that nobody else has done so before. The
kernel frees what a process held when it dies.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlext.errors import SqlExtError
from sqlext.stores.base import KeptBytes, checked_key
from sqlext.stores.naming import naming

#: A file whose name begins so is no key: it is being written, or it is a checksum of Hadoop's. Spark reads none.
_HIDDEN = "."
#: How often a folder that is removed meanwhile is made again, each time within microseconds of its removal.
_TRIES = 1_000
#: What file systems answer that know no hard links or no locks: mounted object stores, volumes of Databricks.
_UNKNOWN = frozenset((errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK, errno.EXDEV))


class FolderStore:
    """A ``ByteStore`` whose keys are the relative paths of files.

    Args:
        folder: where they lie. It is made with the first file, and stays.
        synced: whether a file is on the disk before it has its name. If not, a machine that loses its power may leave
            an empty one; a process that dies never does.

    Raises:
        SqlExtError: CAT-035 by every method that writes, where the file system knows no hard links or no locks.
    """

    def __init__(self, folder: Path, *, synced: bool = True) -> None:
        self._folder = folder
        self._synced = synced

    def read(self, key: str) -> KeptBytes | None:
        """Return what is kept under a key, None if nothing is."""
        try:
            data = self._path(key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return KeptBytes(data, _stamp(data))

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, in place of what was there."""
        with self._written(key, data) as new:
            while True:
                with self._held(key) as old:
                    if old is not None:
                        new.replace(old)
                        return
                if _linked(new, self._path(key)):
                    return

    def create(self, key: str, data: bytes) -> object | None:
        """Keep bytes under a key if nothing is there; return their stamp, None if something was."""
        with self._written(key, data) as new:
            return _stamp(data) if _linked(new, self._path(key)) else None

    def replace(self, key: str, data: bytes, stamp: object) -> object | None:
        """Keep bytes in place of those with this stamp; return the new stamp, None if they are not there any more."""
        with self._held(key) as old:
            if old is None or _stamp(old.read_bytes()) != stamp:
                return None
            with self._written(key, data) as new:
                new.replace(old)
        return _stamp(data)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with the parts of ``prefix``, in any order."""
        for folder, _, names in os.walk(self._path(prefix) if prefix else self._folder):
            for name in names:
                if not name.startswith(_HIDDEN):
                    yield (Path(folder) / name).relative_to(self._folder).as_posix()

    def delete(self, key: str) -> None:
        """Remove a file, and the folders below the store's that it leaves empty."""
        with self._held(key) as path:
            if path is None:
                return
            path.unlink()
        with suppress(OSError):  # not empty, or gone already
            for part in Path(key).parents:
                if part.parts:
                    (self._folder / part).rmdir()

    def make(self) -> None:
        """Make the store's own folder."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def remove(self, prefix: str) -> None:
        """Remove the folder or file of that name, with all below it; there may be none."""
        path = self._path(prefix)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def leave(self) -> None:
        """Remove the store's own folder, if it is empty."""
        with suppress(OSError):
            self._folder.rmdir()

    def move(self, source: str, target: str, last: str) -> None:
        """Give a folder another name, in one step; what had that name goes."""
        if self._path(source).exists():
            self.remove(target)
            self._path(target).parent.mkdir(parents=True, exist_ok=True)
            self._path(source).rename(self._path(target))

    def _path(self, key: str) -> Path:
        return self._folder / checked_key(key)

    @contextmanager
    def _held(self, key: str) -> Iterator[Path | None]:
        """Hold the file of a key against all others who would take its name from it; None if there is no file."""
        path = self._path(key)
        while (descriptor := _opened(path)) is not None:
            try:
                _lock(descriptor, path)
                # Whoever held it before may have taken the name from it.
                if is_file_at(descriptor, path):
                    yield path
                    return
            finally:
                os.close(descriptor)
        yield None

    @contextmanager
    def _written(self, key: str, data: bytes) -> Iterator[Path]:
        """Write bytes beside the file that they are for; the block gives them their name.

        Hadoop keeps a checksum beside a file that it has written, and would compare it with ours.
        """
        path = self._path(key)
        temporary = path.with_name(f"{_HIDDEN}{path.name}.{uuid.uuid4().hex}")
        # Another owner may remove the folder at any moment. What is in the way for longer (a file of that name, a link
        # to nothing) cannot be told from that by another look, which would race as well: only by trying again.
        for _ in range(_TRIES):
            with suppress(FileNotFoundError, FileExistsError):
                self._write(temporary, data)
                break
        else:
            self._write(temporary, data)
        try:
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with naming(str(path)), path.open("wb") as stream:
            stream.write(data)
            stream.flush()
            # Before it gets its name: a file system may store the new name earlier than the bytes.
            if self._synced:
                os.fsync(stream.fileno())


def _stamp(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _linked(new: Path, path: Path) -> bool:
    """Give a file a second name, unless something has it; return whether it was so."""
    try:
        os.link(new, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno in _UNKNOWN:
            raise _unable(path.parent, "hard links") from error
        raise
    return True


def _unable(folder: Path, what: str) -> SqlExtError:
    """Return the refusal of a file system by which nobody can tell who was first."""
    return SqlExtError(
        "CAT-035",
        f"the file system of `{folder}` knows no {what}: two drivers could not tell which of them has a place there",
        hint="a folder of a local disk or of NFS, or the URL of an object store; `sqlext doctor` tries it",
    )


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno in _UNKNOWN:
            raise _unable(path.parent, "locks") from error
        raise


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_file_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one at ``path``: its folder may have been removed and made anew meanwhile."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    own = os.fstat(descriptor)
    return (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino)
