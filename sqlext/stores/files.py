"""Read files where they lie: on a local disk, or in an object store behind a URL. Works in Spark's workers too.

By the file systems of pyarrow, which every worker has. Their names of settings are told from Spark's here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

from sqlext.errors import SqlExtError
from sqlext.locations import holds_bytes as local_holds_bytes
from sqlext.locations import is_remote, scheme_of
from sqlext.stores.access import are_reached, object_settings, remembered
from sqlext.stores.objects import delta_options, pyarrow_options, s3_config, unanswered, without_secrets
from sqlext.stores.opening import has_store

if TYPE_CHECKING:
    from pyarrow import fs

_T = TypeVar("_T")
_S3 = ("s3", "s3a")
_LISTED_AT_ONCE = 16
#: For how long Google's library asks again where nobody answers; by itself it does for a quarter of an hour.
_PATIENCE = timedelta(seconds=15)
#: What pyarrow says of a failure, in short.
_SAID = re.compile(r"AWS Error ([A-Z_]+)")


class SeenFile(NamedTuple):
    """A file: its path or URL, time of modification in milliseconds since 1970, size in bytes."""

    path: str
    modified: int
    size: int


@dataclass(frozen=True)
class FileAccess:
    """Opens files by their paths or URLs; it can be pickled.

    Attributes:
        settings: Spark's, or Hadoop's; never shown.
    """

    settings: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    def opened(self, path: str) -> IO[bytes]:
        """Return a file, opened for reading at any place; of one in an object store each read is a request."""
        if not is_remote(path):
            return Path(path).open("rb", buffering=0)
        where, inside = self._found(path)
        file: IO[bytes] = _checked(path, lambda: where.open_input_file(inside))
        return file

    def text(self, path: str) -> str:
        """Return the text of a file; raises FileNotFoundError if it is not there."""
        if not is_remote(path):
            return Path(path).read_text(encoding="utf-8")
        where, inside = self._found(path)
        with _checked(path, lambda: where.open_input_stream(inside)) as stream:
            return bytes(_checked(path, stream.readall)).decode()

    def is_there(self, path: str) -> bool:
        """Return whether a file lies at a path, or something below it."""
        from pyarrow.fs import FileType

        if not is_remote(path):
            return Path(path).exists()
        where, inside = self._found(path)
        return bool(_checked(path, lambda: where.get_file_info(inside)).type != FileType.NotFound)

    def is_file(self, path: str) -> bool:
        """Return whether a file lies at a path, and no folder."""
        from pyarrow.fs import FileType

        if not is_remote(path):
            return Path(path).is_file()
        where, inside = self._found(path)
        return bool(_checked(path, lambda: where.get_file_info(inside)).type == FileType.File)

    def below(self, url: str, skips: Callable[[str], bool] = lambda name: False) -> Iterator[SeenFile]:
        """Yield the file at a URL, or those below it, in any order; none if nothing is there.

        Args:
            skips: whether a folder or file directly below is left out, by its name.
        """
        from pyarrow.fs import FileSelector, FileType

        where, root = self._found(url)

        def listed(folder: str, *, recursive: bool = True) -> list[fs.FileInfo]:
            selector = FileSelector(folder, recursive=recursive, allow_not_found=True)
            infos: list[fs.FileInfo] = _checked(url, lambda: where.get_file_info(selector))
            return infos

        first = listed(root, recursive=False) or [_checked(url, lambda: where.get_file_info(root))]
        first = [info for info in first if not skips(info.base_name)]
        folders = [info.path for info in first if info.type == FileType.Directory and info.path != root]
        # A store lists a thousand objects a request, one request after the other; folders are listed side by side.
        with ThreadPoolExecutor(_LISTED_AT_ONCE) as pool:
            for info in chain(first, *pool.map(listed, folders)):
                if info.type == FileType.File:
                    path = url.rstrip("/") + info.path[len(root) :]
                    yield SeenFile(path, info.mtime_ns // 1_000_000, info.size)

    def delta_options(self, url: str) -> dict[str, str] | None:
        """Return the settings of a URL as the package deltalake calls them; None of a local path."""
        return delta_options(url, self.settings) if is_remote(url) else None

    def _found(self, url: str) -> tuple[fs.FileSystem, str]:
        """Return the file system of a URL, and the path in it."""
        parts = urlsplit(url)
        place = without_secrets(f"{parts.scheme}://{parts.netloc}")
        # As Spark does: each character of a path stands for itself.
        inside = url[len(place) :].strip("/")
        made = _checked(url, lambda: _file_system(place, tuple(sorted(self.settings.items()))))
        return made, f"{parts.netloc.partition('@')[0]}/{inside}".rstrip("/")


#: Opens files of this machine.
LOCAL = FileAccess()


def can_read(url: str) -> bool:
    """Return whether files at a URL can be read here; whether the store answers is seen then."""
    return is_remote(url) and has_store(url)


def file_access(place: str) -> FileAccess:
    """Return how files at a place are opened, by the settings of the session that works here."""
    return FileAccess(object_settings() if is_remote(place) else {})


def holds_bytes(path: str | None, enough: int) -> bool:
    """Return whether a file, or the files of a folder, have so many bytes together.

    A URL is looked at where a Spark session works. One that does not answer has none.
    """
    if path is None or not is_remote(path):
        return local_holds_bytes(path, enough)
    if not are_reached() or not can_read(path):
        return False
    # A statement asks repeatedly.
    return remembered(path, lambda: _bytes_below(path)) >= enough


def _bytes_below(url: str) -> int:
    try:
        return sum(file.size for file in file_access(url).below(url))
    except SqlExtError:
        return 0


@lru_cache(maxsize=16)
def _file_system(place: str, settings: tuple[tuple[str, str], ...]) -> fs.FileSystem:
    from pyarrow import fs

    scheme, authority = scheme_of(place), urlsplit(place).netloc
    if scheme in _S3:
        return fs.S3FileSystem(**pyarrow_options(s3_config(dict(settings), authority), authority))
    if scheme == "gs":
        return fs.GcsFileSystem(retry_time_limit=_PATIENCE)
    return fs.AzureFileSystem(authority.partition("@")[2].partition(".")[0])


def _checked(url: str, act: Callable[[], _T]) -> _T:
    """Return what an act returns; raises RUN-015 where the store fails, FileNotFoundError where nothing is there."""
    from pyarrow import ArrowException

    try:
        return act()
    except FileNotFoundError:
        raise
    # Of Azure's failures only some are an OSError.
    except (OSError, ArrowException) as error:
        said = _SAID.search(str(error))
        raise unanswered(url, said.group(1) if said else type(error).__name__) from None
