"""Read the files of a folder: one split, whose position is the number of files admitted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from sqlext.connectors.splits import Limit, LooksAtFields, Offset, Passes, Slice
from sqlext.locations import is_remote
from sqlext.sources.file_log import FileLog, FoundFile
from sqlext.sources.file_slices import FileDecoder, FileSlice, admitted, rows_of, sliced
from sqlext.stores.files import LOCAL, FileAccess
from sqlext.stores.location import Location

SPLIT = "files"
#: What stands before the path of a URL.
_AUTHORITY = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/]*")


@dataclass(frozen=True)
class FolderReader:
    """The ``SplitReader`` of a folder.

    Attributes:
        path: absolute, or a URL: a folder, or a file.
        log: a folder for the log of admitted files, beside the query's checkpoint.
        decoder: of the files' format.
        pattern: a regular expression that paths must match as a whole.
        tasks: into how many slices a micro-batch is cut, if it is large enough.
        access: opens the files.
        may_be_missing: whether the folder may come later.
    """

    path: str
    log: Location
    decoder: FileDecoder
    pattern: str | None = None
    tasks: int = 2
    access: FileAccess = LOCAL
    may_be_missing: bool = False
    _opened: list[FileLog] = field(default_factory=list, compare=False, repr=False)

    def looking_at(self, types: Mapping[str, pa.DataType]) -> FolderReader:
        """Return the same with fewer fields, where the format can leave some out; see ``LooksAtFields``."""
        decoder = self.decoder
        return replace(self, decoder=decoder.looking_at(types)) if isinstance(decoder, LooksAtFields) else self

    def initial(self) -> Offset:
        """Return the beginning."""
        return {SPLIT: 0}

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Admit what has come, and return how far the limit lets a micro-batch go."""
        log = self._log()
        log.merge(start[SPLIT])
        # Written before the offset is: after a crash the same numbers mean the same files.
        there = listed(self.path, self.pattern, self.access, may_be_missing=self.may_be_missing)
        log.append([f for f in there if f.path not in log])
        return {SPLIT: start[SPLIT] + admitted(limit, log.between(start[SPLIT], len(log)))}

    def slices(self, start: Offset, end: Offset) -> Sequence[FileSlice]:
        """Return the files between two positions, cut into slices of about equal size."""
        files = list(self._log().between(start[SPLIT], end[SPLIT]))
        return sliced(SPLIT, end[SPLIT], files, self.decoder, self.tasks, self.access)

    def read(self, piece: Slice, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice."""
        yield from rows_of(piece, self.decoder, passes)

    def commit(self, end: Offset) -> None:
        """Keep everything: the log says which files are not new."""

    def close(self) -> None:
        """Forget what was read of the log."""
        self._opened.clear()

    def _log(self) -> FileLog:
        if not self._opened:
            self._opened.append(FileLog(self.log))
        return self._opened[0]


def listed(
    path: str, pattern: str | None, access: FileAccess = LOCAL, *, may_be_missing: bool = False
) -> list[FoundFile]:
    """Return the files of a folder and of the folders in it (or the one file), oldest first, then by path.

    These are the files that Spark's own source reads. Hidden ones are left out: names that begin with ``.`` or ``_``,
    and what is being copied.

    Args:
        path: absolute, or a URL.
        pattern: a regular expression that a whole path must match, of a URL that behind the bucket; None for all.
        access: opens the files.
        may_be_missing: whether a folder that is not there has no files; else that is an error.
    """
    if may_be_missing and not access.is_there(path):
        return []
    matches = re.compile(pattern).fullmatch if pattern else None
    there = _objects(path, access) if is_remote(path) else _walk(path)
    found = [f for f in there if matches is None or matches(_AUTHORITY.sub("", f.path))]
    return sorted(found, key=lambda f: (f.modified, f.path))


def _walk(path: str) -> Iterator[FoundFile]:
    if not Path(path).is_dir():
        state = Path(path).stat()
        yield FoundFile(path, state.st_mtime_ns // 1_000_000, state.st_size)
        return
    folders = [path]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if _is_hidden(entry.name):
                    continue
                if entry.is_dir():
                    folders.append(entry.path)
                    continue
                try:
                    state = entry.stat()
                except FileNotFoundError:  # removed since it was listed
                    continue
                yield FoundFile(entry.path, state.st_mtime_ns // 1_000_000, state.st_size)


def _objects(url: str, access: FileAccess) -> Iterator[FoundFile]:
    # Objects have no folders: each name in a path is looked at.
    for file in access.below(url, _is_hidden):
        inside = file.path.removeprefix(url.rstrip("/")).strip("/")
        if not any(map(_is_hidden, inside.split("/"))):
            yield FoundFile(*file)


def _is_hidden(name: str) -> bool:
    # Spark's rule (HadoopFSUtils): `_day=1` is the folder of a partition, other names with `_` are hidden.
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")
