"""Run the first part of an operator where rows are read: partial results, packed by bucket, leave the worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext.connectors.row_bounds import Known
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
from sqlext_udfs.kernel.packing import PACKED, Packing
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded

#: Packed rows and, once in each slice, what its rows were: the largest event time, by which Spark's watermark moves as
#: with the rows themselves, the smallest one, how many were read, of which split, and all event times in few points.
MARK, LEAST, READ, TIMES = "mark", "least", "read", "times"
MARKED = f"{PACKED}, {MARK} TIMESTAMP, {LEAST} TIMESTAMP, {READ} BIGINT, {SPLIT} STRING, {TIMES} STRING"
#: Beside them, where several operators work on the same rows: whose they are.
MEMBER = "member"
SHARED = f"{MARKED}, {MEMBER} INT"


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

    Attributes:
        facts: what the slice turned out to hold so far.
    """

    def __init__(self, work: PackedWork, split: str, place: int = 0) -> None:
        self.facts = Facts(times=Times() if work.times else None)
        self._work, self._split, self._place = work, split, place
        self._groups = bucket_keys(work.buckets)
        self._packing = Packing(work.operator, self._groups, work.buckets_of)
        # One batch waits: the last one carries the facts, which are known when all has been read.
        self._waiting: pa.RecordBatch | None = None

    def take(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take rows; yield packed ones that are to leave now."""
        for made in self._work.inputs(batch, self.facts) if batch.num_rows else ():
            yield from self._before_the_last(self._packing.take(made))

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the packed rows that are left at the end."""
        yield from self._before_the_last(self._packing.rest())
        # Rows that are all filtered out still move the watermark and count as read.
        if self._waiting is None and self.facts.rows:
            self._waiting = _nothing_for(self._groups[0])
        if self._waiting is not None:
            yield _marked(self._waiting, self._split, self.facts, self._place)

    def _before_the_last(self, leaving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for packed in leaving:
            if self._waiting is not None:
                yield _marked(self._waiting, self._split, Facts(), self._place)
            self._waiting = packed if packed.num_rows else self._waiting


@dataclass(frozen=True)
class SharedWork(Work):
    """The partial work of several operators on the same rows, which are read once.

    Attributes:
        works: of each operator.
    """

    works: tuple[PackedWork, ...]

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield packed rows; ``MEMBER`` says whose they are, as a place in ``works``."""
        pieces = [PackedSlice(work, split, place) for work in self.works]
        for batch in read(partial(self._passes, pieces) if all(w.program.filters for w in self.works) else None):
            for number, piece in enumerate(pieces):
                yield from _numbered(piece.take(batch), number)
        for number, piece in enumerate(pieces):
            yield from _numbered(piece.rest(), number)
        spare_what_is_loaded()

    def _passes(self, pieces: Sequence[PackedSlice], known: Known, rows: int) -> bool:
        """Count rows for all works, if none of them need them; return whether that is so."""
        found = [Facts() for _ in pieces]
        if not all(work.program.passes(facts, known, rows) for work, facts in zip(self.works, found, strict=True)):
            return False
        for piece, facts in zip(pieces, found, strict=True):
            piece.facts.add(facts.rows, facts.smallest, facts.largest)
        return True


def _numbered(leaving: Iterator[pa.RecordBatch], number: int) -> Iterator[pa.RecordBatch]:
    for packed in leaving:
        yield packed.append_column(MEMBER, pa.array([number] * packed.num_rows, pa.int32()))


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
