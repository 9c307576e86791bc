"""Cut files into slices of about equal size, for parallel tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import pyarrow as pa

from sqlext.connectors.splits import Limit, Passes, Slice
from sqlext.sources.file_log import FoundFile
from sqlext.stores.files import LOCAL, FileAccess

#: A slice has at least so many bytes, where there are as many, and not many more than that.
#: 128 MB is also what Spark reads in one task (spark.sql.files.maxPartitionBytes).
_LEAST, _MOST = 1 << 22, 1 << 27


class Range(NamedTuple):
    """Some bytes of a file: those of the lines (or row groups) that begin in them; and how the file is opened."""

    path: str
    start: int
    end: int
    access: FileAccess = LOCAL


@dataclass(frozen=True, slots=True)
class FileSlice(Slice):
    """Parts of files, in their order."""

    ranges: tuple[Range, ...] = ()


class FileDecoder(Protocol):
    """Reads the files of a format."""

    def can_cut(self, path: str) -> bool:
        """Return whether parts of a file can be read by themselves."""

    def read(self, part: Range, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows that begin in a part of a file; see ``SplitReader.read``.

        Raises:
            SqlExtError: RUN-... for what is no row of the table.
        """


def sliced(
    split: str,
    end: int,
    files: Sequence[FoundFile],
    decoder: FileDecoder,
    tasks: int,
    access: FileAccess = LOCAL,
) -> list[FileSlice]:
    """Return the slices of a micro-batch that reads some files and ends at a position of their split.

    Args:
        tasks: how many slices there are, if the files are large enough.
        access: opens the files.
    """
    # Rounded up, or what is left over would be one slice more than there are tasks.
    size = min(max(sum(f.size for f in files) // tasks + 1, _LEAST), _MOST)
    cut = _cut([r for f in files for r in _ranges(f, size, decoder, access)], size)
    return [FileSlice(split, end, part, tuple(ranges)) for part, ranges in enumerate(cut)]


def admitted(limit: Limit | None, files: Iterable[FoundFile]) -> int:
    """Return how many of some files a limit lets a micro-batch take: one at least."""
    # How many rows a file has is not known before it is read.
    if limit is None or limit.unit == "rows":
        return sum(1 for _ in files)
    count = taken = 0
    for file in files:
        taken += file.size if limit.unit == "bytes" else 1
        if count and taken > limit.most:
            break
        count += 1
    return count


def rows_of(piece: Slice, decoder: FileDecoder, passes: Passes | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a slice; see ``SplitReader.read``."""
    assert isinstance(piece, FileSlice)
    for part in piece.ranges:
        yield from decoder.read(part, passes)


def _ranges(found: FoundFile, size: int, decoder: FileDecoder, access: FileAccess) -> Iterator[Range]:
    if not decoder.can_cut(found.path):
        yield Range(found.path, 0, found.size, access)
        return
    parts = max(round(found.size / size), 1)
    # Each bound is computed from the whole size, so parts meet without a gap.
    bounds = [found.size * i // parts for i in range(parts + 1)]
    for start, end in pairwise(bounds):
        yield Range(found.path, start, end, access)


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
