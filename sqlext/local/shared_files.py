"""Read files once for several queries without an end, each of which counts them by itself.

What is shared is what a part of a file holds: queries find the same files, if not in the same micro-batches. Their
places stay their own. Rows are kept until all have taken them, or until later parts need the room.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from sqlext.connectors.splits import Slice, SplitReader
from sqlext.local.shared_streams import settle
from sqlext.rewrite.script.shared import SharedRead
from sqlext.sources.file_slices import FileSlice, Range
from sqlext.sources.tables import reader_of
from sqlext.stores.location import Location

#: Of how many bytes of files the rows are kept for queries that have not taken them: those of two micro-batches. A
#: part counts as so many more, for what its rows take in memory however few they are.
_KEPT, _EACH = 128 << 20, 1 << 14


@dataclass(eq=False)
class _Part:
    """The rows of a part of a file, and how often they were taken."""

    rows: Future[Sequence[pa.RecordBatch]] = field(default_factory=Future)
    taken: int = 0


@dataclass
class SharedFiles:
    """The files of a table as the queries of a job read them together.

    Attributes:
        read: the table, and its views.
        sources: a folder for what the reader remembers: nothing, since others list the files.
    """

    read: SharedRead
    sources: Location
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _parts: dict[Range, _Part] = field(default_factory=dict)
    _held: int = 0

    def rows(self, piece: Slice) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice, each part read for all by who asks first.

        Raises:
            SqlExtError: RUN-... for rows that cannot be read; all that wait for them are told.
        """
        assert isinstance(piece, FileSlice)
        for part in piece.ranges:
            yield from self._rows(replace(piece, ranges=(part,)))

    def close(self) -> None:
        """Forget all rows, and give free what the reader has opened."""
        with self._lock:
            self._parts.clear()
            self._held = 0
            if "_reader" in self.__dict__:
                self._reader.close()

    @cached_property
    def _reader(self) -> SplitReader:
        table = self.read.table
        return reader_of(table).reader(table, self.read.needed, self.sources, 1)

    def _rows(self, piece: FileSlice) -> Sequence[pa.RecordBatch]:
        (part,) = piece.ranges
        with self._lock:
            first = part not in self._parts
            if first:
                self._keep(part)
            found = self._parts[part]
            found.taken += 1
            if found.taken == len(self.read.members):
                self._forget(part)
        if first:
            try:
                settle(found.rows, lambda: self._read(piece))
            except BaseException:
                with self._lock:  # who asks later tries again
                    self._forget(part)
                raise
        return found.rows.result()

    def _read(self, piece: FileSlice) -> Sequence[pa.RecordBatch]:
        # What a reader has opened belongs to one thread.
        return list(copy.copy(self._reader).read(piece))

    def _keep(self, part: Range) -> None:
        """Make room for the rows of a part, at the cost of the oldest ones."""
        self._held += _size(part)
        while self._parts and self._held > _KEPT:
            self._forget(next(iter(self._parts)))
        self._parts[part] = _Part()

    def _forget(self, part: Range) -> None:
        if self._parts.pop(part, None) is not None:
            self._held -= _size(part)


def _size(part: Range) -> int:
    return part.end - part.start + _EACH
