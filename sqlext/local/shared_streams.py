"""Read a table once for several queries without an end: a micro-batch that one of them takes is read for all.

Each query keeps a place of its own, and its micro-batches are its own. They only end where those of the others do. A
query that is behind reads by itself up to where another has cut, and is with the others from there on.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import pyarrow as pa

from sqlext.connectors.splits import Limit, Offset, Slice, SplitReader
from sqlext.local.reading import threads
from sqlext.rewrite.script.shared import SharedRead
from sqlext.sources.tables import reader_of
from sqlext.stores.location import Location

T = TypeVar("T")
#: How many micro-batches are known of, and of how many the rows are kept for queries that have not taken them.
_CUTS, _KEPT = 16, 2


@dataclass(frozen=True)
class SliceRows:
    """The rows of a slice, as the reader gives them; each query takes its columns of them."""

    split: str
    batches: Sequence[pa.RecordBatch]


@dataclass(eq=False)
class _Cut:
    """A micro-batch: from where to where, its rows once somebody has asked for them, and how often they were taken."""

    start: Offset
    end: Offset
    rows: Future[Sequence[SliceRows]] | None = None
    taken: int = 0


@dataclass
class SharedStream:
    """A table as the queries of a job read it together.

    Attributes:
        read: the table, and its views.
        sources: a folder for what the reader remembers.
    """

    read: SharedRead
    sources: Location
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cuts: list[_Cut] = field(default_factory=list)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(threads(), "sqlext read"))

    def ahead(self, start: Offset, limit: Limit | None) -> Offset:
        """Return how far a micro-batch goes that begins at a place: as far as another one's, where there is one."""
        with self._lock:
            known = next((cut.end for cut in self._cuts if cut.start == start), None)
            known = known or next((cut.end for cut in self._cuts if _is_ahead(cut.end, start)), None)
            if known is not None:
                return known
            end = {**start, **self._reader.latest(start, limit)}
            if end != start:
                self._cuts = [*self._cuts[1 - _CUTS :], _Cut(start, end)]
            return end

    def rows(self, start: Offset, end: Offset) -> Sequence[SliceRows] | None:
        """Return the rows of a micro-batch, read for all by who asks first; None if the query must read them itself.

        Raises:
            SqlExtError: RUN-... for rows that cannot be read; all that ask are told.
        """
        with self._lock:
            cut = next((cut for cut in self._cuts if (cut.start, cut.end) == (start, end)), None)
            if cut is None or cut.taken == len(self.read.members):
                return None
            first = cut.rows is None and cut.taken == 0
            rows = cut.rows = Future() if first else cut.rows
            cut.taken += 1
            pieces = list(self._reader.slices(start, end)) if first else []
            self._let_go()
        if rows is None:  # they were let go: others were too far behind
            return None
        if first:
            settle(rows, lambda: self._read(pieces))
        return rows.result()

    def close(self) -> None:
        """Give free what the reader has opened."""
        with self._lock:
            self._cuts = []
            if "_reader" in self.__dict__:
                self._reader.close()
        self._pool.shutdown()

    @cached_property
    def _reader(self) -> SplitReader:
        table = self.read.table
        return reader_of(table).reader(table, self.read.needed, self.sources, 1)

    def _read(self, pieces: Sequence[Slice]) -> Sequence[SliceRows]:
        # What a reader has opened belongs to one thread.
        def rows(piece: Slice) -> SliceRows:
            return SliceRows(piece.split, list(copy.copy(self._reader).read(piece)))

        return list(self._pool.map(rows, pieces)) if len(pieces) > 1 else [rows(piece) for piece in pieces]

    def _let_go(self) -> None:
        """Forget rows that all have taken, and those of micro-batches long ago."""
        kept = [cut for cut in self._cuts if cut.rows is not None]
        for cut in kept:
            if cut.taken == len(self.read.members) or cut in kept[:-_KEPT]:
                cut.rows = None


def _is_ahead(end: Offset, place: Offset) -> bool:
    """Return whether an end is behind no split of a place, and before one."""
    return end.keys() >= place.keys() and end != place and all(end[split] >= at for split, at in place.items())


def settle(rows: Future[T], read: Callable[[], T]) -> None:
    """Read, and tell all who wait what came of it.

    Raises:
        BaseException: why it failed.
    """
    try:
        rows.set_result(read())
    except BaseException as failure:
        rows.set_exception(failure)
        raise
