"""Run the first part of an operator where rows are read: partial results, packed by bucket, leave the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sqlext.connectors.moments import BEAT, TimeMessage
from sqlext.connectors.row_bounds import Known
from sqlext.errors import SqlExtError
from sqlext.sources.program import Facts, Program
from sqlext.sources.stream import Read, Work
from sqlext.sources.times import Times
from sqlext.watermarks.inputs import SPLIT
from sqlext_udfs.expressions.functions import INSTANT
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.bucket_keys import bucket_keys
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.hashing import buckets_of
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.kernel.packing import PACKED, packed
from sqlext_udfs.kernel.partial_work import PartialWork
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded
from sqlext_udfs.windows.panes.columns import is_partial
from sqlext_udfs.windows.shares import Coarser, Share

#: Packed rows and, once in each slice, what its rows were: the largest event time, by which Spark's watermark moves as
#: with the rows themselves, the smallest one, how many were read, of which split, and all event times in few points.
MARK, LEAST, READ, TIMES = "mark", "least", "read", "times"
MARKED = (
    f"{PACKED}, {MARK} TIMESTAMP, {LEAST} TIMESTAMP, {READ} BIGINT, {SPLIT} STRING, {TIMES} STRING, {BEAT} TIMESTAMP"
)
#: Beside them, where several operators work on the same rows: whose they are; in a row without rows, why its operator's
#: work failed: code in brackets and message.
MEMBER, FAILURE = "member", "failure"
SHARED = f"{MARKED}, {MEMBER} INT, {FAILURE} STRING"
#: The same to Arrow.
SHARED_SCHEMA = pa.schema(
    [
        *(("bucket", pa.int32()), ("rows", pa.binary()), ("now", pa.int64()), (MARK, INSTANT), (LEAST, INSTANT)),
        *((READ, pa.int64()), (SPLIT, pa.string()), (TIMES, pa.string()), (BEAT, INSTANT)),
        *((MEMBER, pa.int32()), (FAILURE, pa.string())),
    ]
)


class WorkFailedError(Exception):
    """Why a worker could not do what a query asks of its rows: code in brackets and message."""


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

    def told(self, moment: TimeMessage) -> Iterator[pa.RecordBatch]:
        """Yield a tick for each bucket, and a heartbeat."""
        groups = bucket_keys(self.buckets)
        if moment.tick is not None:
            yield _unmarked(groups, now=moment.tick)
        if moment.watermark is not None:
            yield _unmarked(groups[:1], beat=moment.watermark)

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
        self._work = work
        self._partial = PartialWork(work.operator, work.buckets_of)
        own = bucket_keys(work.buckets)
        self._outlets = [_outlet(share, work.operator, split, place, own) for share in shares]
        self._outlets = self._outlets or [_Outlet(None, work.operator, split, place, own)]

    def take(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take rows; yield packed ones that are to leave now."""
        for made in self._work.inputs(batch, self.facts) if batch.num_rows else ():
            yield from self._packed(self._partial.take(made))

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the packed rows that are left at the end."""
        yield from self._packed(self._partial.rest())
        for outlet in self._outlets:
            yield from outlet.rest(self.facts)

    def failed(self, error: SqlExtError) -> Iterator[pa.RecordBatch]:
        """Yield what tells each of several operators that the work failed."""
        for outlet in self._outlets:
            yield outlet.failed(error)

    def _packed(self, leaving: Iterator[tuple[pa.Table, Ints]]) -> Iterator[pa.RecordBatch]:
        for table, buckets in leaving:
            for outlet in self._outlets:
                yield from outlet.take(table, buckets)


@dataclass
class _Outlet:
    """Marks packed rows on their way to one operator.

    Attributes:
        share: what of the work is its own, where it is that of several operators.
        operator: whose partial work has been done.
        split, place: the slice's.
        groups: the grouping key of each of its buckets.
    """

    share: Share | None
    operator: BucketOperator[Any]
    split: str
    place: int
    groups: Sequence[int]
    #: One batch waits: the last one carries the facts, which are known when all has been read.
    _waiting: pa.RecordBatch | None = None

    def take(self, table: pa.Table, buckets: Ints) -> Iterator[pa.RecordBatch]:
        """Take what leaves the work; yield what is to leave the worker."""
        yield from self._packed(table if self.share is None else self.share.of(table), buckets)

    def rest(self, facts: Facts) -> Iterator[pa.RecordBatch]:
        """Yield what is left at the end, with the facts of all."""
        # Rows that are all filtered out still move the watermark and count as read.
        if self._waiting is None and facts.rows:
            self._waiting = _nothing_for(self.groups[0])
        if self._waiting is not None:
            yield self._marked(self._waiting, facts)

    def failed(self, error: SqlExtError) -> pa.RecordBatch:
        """Return what tells that the work failed."""
        return self._marked(_nothing_for(self.groups[0]), Facts(), f"[{error.code}] {error.message}")

    def _packed(self, table: pa.Table, buckets: Ints) -> Iterator[pa.RecordBatch]:
        for rows in packed(table, buckets, self.groups, self.operator.for_each(table)):
            if self._waiting is not None:
                yield self._marked(self._waiting, Facts())
            self._waiting = rows if rows.num_rows else self._waiting

    def _marked(self, rows: pa.RecordBatch, facts: Facts, failure: str | None = None) -> pa.RecordBatch:
        marked = _marked(rows, self.split, facts, self.place)
        if self.share is None:
            return marked
        marked = marked.append_column(MEMBER, pa.array([self.share.member] * marked.num_rows, pa.int32()))
        return marked.append_column(FAILURE, pa.array([failure] * marked.num_rows, pa.string()))


class _CoarserOutlet(_Outlet):
    """Joins what leaves the work before it packs it; a failure is told to its own operator alone."""

    def __init__(self, share: Share, coarser: Coarser, split: str, place: int) -> None:
        super().__init__(share, coarser.operator, split, place, bucket_keys(coarser.buckets))
        self._of, self._coarser = share, coarser
        # Rows and partial results have other columns. Where work on rows is in vain, they come as they are.
        self._works = {kind: PartialWork(coarser.operator, self._buckets_of) for kind in (False, True)}
        self._error: SqlExtError | None = None

    def take(self, table: pa.Table, buckets: Ints) -> Iterator[pa.RecordBatch]:
        """Take what leaves the work; yield what is to leave the worker."""
        yield from self._unless_failed(lambda: self._joined(self._of.of(table)))

    def rest(self, facts: Facts) -> Iterator[pa.RecordBatch]:
        """Yield what is left at the end, with the facts of all."""
        for work in self._works.values():
            yield from self._unless_failed(work.rest)
        yield from super().rest(facts)
        if self._error is not None:
            yield self.failed(self._error)

    def _joined(self, table: pa.Table) -> Iterator[tuple[pa.Table, Ints]]:
        work = self._works[is_partial(table)]
        for batch in table.to_batches():
            yield from work.take(batch)

    def _unless_failed(self, leaving: Callable[[], Iterator[tuple[pa.Table, Ints]]]) -> Iterator[pa.RecordBatch]:
        if self._error is not None:
            return
        try:
            for table, buckets in leaving():
                yield from self._packed(table, buckets)
        except SqlExtError as error:
            self._error = error

    def _buckets_of(self, table: pa.Table) -> Ints:
        keys = [whole(c) for c in table.columns[: self._coarser.keys]]
        return buckets_of(keys, table.num_rows, self._coarser.buckets)


def _outlet(share: Share, operator: BucketOperator[Any], split: str, place: int, groups: Sequence[int]) -> _Outlet:
    if share.coarser is None:
        return _Outlet(share, operator, split, place, groups)
    return _CoarserOutlet(share, share.coarser, split, place)


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
    span = facts.smallest, facts.largest
    text = facts.times.text(place, split, facts.rows, span) if facts.times is not None else None
    times = pa.array([text, *others], pa.string())
    beats = pa.nulls(packed.num_rows, INSTANT)
    columns = [*packed.columns, mark.view(INSTANT), least.view(INSTANT), read, splits, times, beats]
    return pa.record_batch(columns, [*packed.schema.names, MARK, LEAST, READ, SPLIT, TIMES, BEAT])


def _unmarked(groups: Sequence[int], *, now: int | None = None, beat: int | None = None) -> pa.RecordBatch:
    """Return rows without rows and marks, one for each grouping key; times in ms since 1970 UTC."""
    several = len(groups)
    nothing = [pa.nulls(several, of) for of in (INSTANT, INSTANT, pa.int64(), pa.string(), pa.string())]
    clock = pa.array([now] * several, pa.int64())
    beats = pa.array([None if beat is None else beat * 1000] * several, pa.int64()).view(INSTANT)
    columns = [pa.array(groups, pa.int32()), pa.nulls(several, pa.binary()), clock, *nothing, beats]
    return pa.record_batch(columns, ["bucket", "rows", "now", MARK, LEAST, READ, SPLIT, TIMES, BEAT])
