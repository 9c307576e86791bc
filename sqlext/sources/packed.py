"""Run the first part of an operator where rows are read: partial results, packed by bucket, leave the worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sqlext.connectors.row_bounds import Known
from sqlext.errors import SqlExtError
from sqlext.sources.hashing import buckets_of
from sqlext.sources.program import Facts, Program
from sqlext.sources.stream import Read, Work
from sqlext.sources.times import Times
from sqlext.watermarks.inputs import SPLIT
from sqlext_udfs.expressions.functions import INSTANT
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.bucket_keys import bucket_keys
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.kernel.packing import PACKED, packed
from sqlext_udfs.kernel.partial_work import PartialWork
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded
from sqlext_udfs.windows.shares import Share

#: Packed rows and, once in each slice, what its rows were: the largest event time, by which Spark's watermark moves as
#: with the rows themselves, the smallest one, how many were read, of which split, and all event times in few points.
MARK, LEAST, READ, TIMES = "mark", "least", "read", "times"
MARKED = f"{PACKED}, {MARK} TIMESTAMP, {LEAST} TIMESTAMP, {READ} BIGINT, {SPLIT} STRING, {TIMES} STRING"
#: Beside them, where several operators work on the same rows: whose they are; in a row without rows, why its operator's
#: work failed: code in brackets and message.
MEMBER, FAILURE = "member", "failure"
SHARED = f"{MARKED}, {MEMBER} INT, {FAILURE} STRING"


@dataclass(frozen=True)
class PackedWork(Work):
    """The partial work of a bucket operator.

    Attributes:
        program: makes the operator's input.
        operator: the semantics.
        keys: how many of its first columns are the key.
        buckets: how many there are.
        times: whether event times are summed up, for the time keeper.
    """

    program: Program
    operator: BucketOperator[Any]
    keys: int
    buckets: int
    times: bool = False

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield packed rows."""
        piece = PackedSlice(self, split, place)
        # Without a filter no row can be passed over, so statistics need not be looked at.
        for batch in read(partial(self.program.passes, piece.facts) if self.program.filters else None):
            yield from piece.take(batch)
        yield from piece.rest()
        spare_what_is_loaded()

    def inputs(self, batch: pa.RecordBatch, facts: Facts) -> Iterator[pa.RecordBatch]:
        """Yield the operator's input; its last column stands where Spark would have put the bucket."""
        for columns in self.program.run(batch, facts):
            rows = len(next(iter(columns.values())))
            yield pa.record_batch({**columns, "bucket": pa.array(np.zeros(rows, np.int16))})

    def buckets_of(self, table: pa.Table) -> Ints:
        """Return the bucket of each row."""
        return buckets_of([whole(c) for c in table.columns[: self.keys]], table.num_rows, self.buckets)


class PackedSlice:
    """Takes the rows of one slice piece by piece, and gives them packed and marked.

    Args:
        work: what is done with them.
        split, place: the slice's; see ``Work``.
        shares: what of the work is whose, where it is that of several operators.

    Attributes:
        facts: what the slice turned out to hold so far.
    """

    def __init__(self, work: PackedWork, split: str, place: int = 0, shares: Sequence[Share] = ()) -> None:
        self.facts = Facts(times=Times() if work.times else None)
        self._work, self._shares = work, shares
        self._groups = bucket_keys(work.buckets)
        self._partial = PartialWork(work.operator, work.buckets_of)
        self._outlets = [_Outlet(share.member, split, place) for share in shares] or [_Outlet(None, split, place)]

    def take(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take rows; yield packed ones that are to leave now."""
        for made in self._work.inputs(batch, self.facts) if batch.num_rows else ():
            yield from self._packed(self._partial.take(made))

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the packed rows that are left at the end."""
        yield from self._packed(self._partial.rest())
        for outlet in self._outlets:
            yield from outlet.rest(self.facts, self._groups[0])

    def failed(self, error: SqlExtError) -> Iterator[pa.RecordBatch]:
        """Yield what tells each of several operators that the work failed."""
        for outlet in self._outlets:
            yield outlet.failed(error, self._groups[0])

    def _packed(self, leaving: Iterator[tuple[pa.Table, Ints]]) -> Iterator[pa.RecordBatch]:
        for table, buckets in leaving:
            mine = [share.of(table) for share in self._shares] or [table]
            for outlet, rows in zip(self._outlets, mine, strict=True):
                told = self._work.operator.for_each(rows)
                yield from outlet.take(packed(rows, buckets, self._groups, told))


@dataclass
class _Outlet:
    """Marks packed rows on their way to one operator; ``member``: whose they are, where there are several."""

    member: int | None
    split: str
    place: int
    #: One batch waits: the last one carries the facts, which are known when all has been read.
    _waiting: pa.RecordBatch | None = None

    def take(self, leaving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in leaving:
            if self._waiting is not None:
                yield self._marked(self._waiting, Facts())
            self._waiting = rows if rows.num_rows else self._waiting

    def rest(self, facts: Facts, group: int) -> Iterator[pa.RecordBatch]:
        # Rows that are all filtered out still move the watermark and count as read.
        if self._waiting is None and facts.rows:
            self._waiting = _nothing_for(group)
        if self._waiting is not None:
            yield self._marked(self._waiting, facts)

    def failed(self, error: SqlExtError, group: int) -> pa.RecordBatch:
        return self._marked(_nothing_for(group), Facts(), f"[{error.code}] {error.message}")

    def _marked(self, rows: pa.RecordBatch, facts: Facts, failure: str | None = None) -> pa.RecordBatch:
        marked = _marked(rows, self.split, facts, self.place)
        if self.member is None:
            return marked
        marked = marked.append_column(MEMBER, pa.array([self.member] * marked.num_rows, pa.int32()))
        return marked.append_column(FAILURE, pa.array([failure] * marked.num_rows, pa.string()))


class Together(NamedTuple):
    """The partial work of operators that is the same, but for their aggregates, and what of it is whose."""

    work: PackedWork
    shares: tuple[Share, ...]


@dataclass(frozen=True)
class SharedWork(Work):
    """The partial work of several operators on the same rows, which are read once.

    ``MEMBER`` says whose packed rows are, as ``Share.member`` does. A work that fails ends, and a row with ``FAILURE``
    tells it; the others go on.

    Attributes:
        works: what is done; each may be the work of several operators.
    """

    works: tuple[Together, ...]

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield packed rows."""
        pieces = [PackedSlice(of.work, split, place, of.shares) for of in self.works]
        failures: dict[int, SqlExtError] = {}

        def unless_failed(number: int, leaving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            if number in failures:
                return
            try:
                yield from leaving
            except SqlExtError as error:
                failures[number] = error

        filtered = all(of.work.program.filters for of in self.works)
        for batch in read(partial(self._passes, pieces) if filtered else None):
            for number, piece in enumerate(pieces):
                yield from unless_failed(number, piece.take(batch))
        for number, piece in enumerate(pieces):
            yield from unless_failed(number, piece.rest())
        for number, error in failures.items():
            yield from pieces[number].failed(error)
        spare_what_is_loaded()

    def _passes(self, pieces: Sequence[PackedSlice], known: Known, rows: int) -> bool:
        """Count rows for all works, if none of them need them; return whether that is so."""
        found = [Facts() for _ in pieces]
        if not all(of.work.program.passes(facts, known, rows) for of, facts in zip(self.works, found, strict=True)):
            return False
        for piece, facts in zip(pieces, found, strict=True):
            piece.facts.add(facts.rows, facts.smallest, facts.largest)
        return True


def _nothing_for(group: int) -> pa.RecordBatch:
    """Return a packed row without rows, to carry a mark."""
    return pa.record_batch(
        [pa.array([group], pa.int32()), pa.nulls(1, pa.binary()), pa.nulls(1, pa.int64())], ["bucket", "rows", "now"]
    )


def _marked(packed: pa.RecordBatch, split: str, facts: Facts, place: int) -> pa.RecordBatch:
    """Return packed rows, the first of them with what a slice turned out to hold."""
    others = [None] * (packed.num_rows - 1)
    mark, least, read = (pa.array([n, *others], pa.int64()) for n in (facts.largest, facts.smallest, facts.rows))
    splits = pa.array([split] * packed.num_rows, pa.string())
    text = facts.times.text(place, split, facts.rows) if facts.times is not None else None
    times = pa.array([text, *others], pa.string())
    columns = [*packed.columns, mark.view(INSTANT), least.view(INSTANT), read, splits, times]
    return pa.record_batch(columns, [*packed.schema.names, MARK, LEAST, READ, SPLIT, TIMES])
