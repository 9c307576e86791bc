"""Files of a folder as a source: one split, whose position is the number of files admitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from sqlext.sources.contract import Limit, Offset, Slice
from sqlext.sources.file_log import FileLog, Found
from sqlext.sources.listing import listed

SPLIT = "files"
#: A slice has at least so many bytes, where there are as many, and not many more than that.
_LEAST, _MOST = 1 << 22, 1 << 27


class Range(NamedTuple):
    """Some bytes of a file: those of the lines (or row groups) that begin in them."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FileSlice(Slice):
    """Parts of files, in their order."""

    ranges: tuple[Range, ...] = ()


class FileDecoder(Protocol):
    """Reads the files of a format."""

    def can_cut(self, path: str) -> bool:
        """Return whether parts of a file can be read by themselves."""

    def read(self, part: Range) -> Iterator[pa.RecordBatch]:
        """Yield the rows that begin in a part of a file.

        Raises:
            SqlExtError: RUN-... for what is no row of the table.
        """


@dataclass(frozen=True)
class FileReader:
    """The ``SplitReader`` of a folder.

    Attributes:
        path: absolute: a folder, or a file.
        log: a folder for the log of admitted files, beside the query's checkpoint.
        decoder: of the files' format.
        pattern: a regular expression that paths must match as a whole.
        tasks: into how many slices a micro-batch is cut, if it is large enough.
    """

    path: str
    log: Path
    decoder: FileDecoder
    pattern: str | None = None
    tasks: int = 2
    _opened: list[FileLog] = field(default_factory=list, compare=False, repr=False)

    def initial(self) -> Offset:
        """Return the beginning."""
        return {SPLIT: 0}

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Admit what has come, and return how far the limit lets a micro-batch go."""
        log = self._log()
        log.append([f for f in listed(self.path, self.pattern) if f.path not in log])
        return {SPLIT: _within(limit, start[SPLIT], log)}

    def slices(self, start: Offset, end: Offset) -> Sequence[FileSlice]:
        """Return the files between two positions, cut into slices of about equal size."""
        files = list(self._log().between(start[SPLIT], end[SPLIT]))
        size = min(max(sum(f.size for f in files) // self.tasks + 1, _LEAST), _MOST)
        cut = _cut([r for f in files for r in self._ranges(f, size)], size)
        return [FileSlice(SPLIT, end[SPLIT], part, tuple(ranges)) for part, ranges in enumerate(cut)]

    def read(self, piece: Slice) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice."""
        assert isinstance(piece, FileSlice)
        for part in piece.ranges:
            yield from self.decoder.read(part)

    def commit(self, end: Offset) -> None:
        """Keep everything: the log says which files are not new."""

    def close(self) -> None:
        """Forget what was read of the log."""
        self._opened.clear()

    def _log(self) -> FileLog:
        if not self._opened:
            self._opened.append(FileLog(self.log))
        return self._opened[0]

    def _ranges(self, found: Found, size: int) -> Iterator[Range]:
        if not self.decoder.can_cut(found.path):
            yield Range(found.path, 0, found.size)
            return
        parts = max(round(found.size / size), 1)
        bounds = [found.size * i // parts for i in range(parts + 1)]
        for start, end in pairwise(bounds):
            yield Range(found.path, start, end)


def _within(limit: Limit | None, start: int, log: FileLog) -> int:
    if limit is None or limit.unit == "rows":
        return len(log)
    if limit.unit == "files":
        return min(len(log), start + limit.most)
    end, taken = start, 0
    for found in log.between(start, len(log)):
        if taken and taken + found.size > limit.most:
            break
        end, taken = end + 1, taken + found.size
    return end


def _cut(ranges: Sequence[Range], size: int) -> Iterator[list[Range]]:
    """Yield runs of ranges of about ``size`` bytes: a range is in the run that its middle lies in."""
    total = sum(r.end - r.start for r in ranges)
    count = max(round(total / size), 1)
    runs: list[list[Range]] = [[] for _ in range(count)]
    before = 0
    for each in ranges:
        length = each.end - each.start
        runs[(2 * before + length) * count // (2 * total) if length else 0].append(each)
        before += length
    yield from (run for run in runs if run)
