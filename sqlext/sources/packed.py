"""Run the first part of an operator where rows are read: partial results, packed by bucket, leave the worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

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
from sqlext_udfs.kernel.packing import PACKED, pack

#: Packed rows and, once in each slice, what its rows were: the largest event time, by which Spark's watermark moves as
#: with the rows themselves, the smallest one, how many were read, of which split, and all event times in few points.
MARK, LEAST, READ, TIMES = "mark", "least", "read", "times"
MARKED = f"{PACKED}, {MARK} TIMESTAMP, {LEAST} TIMESTAMP, {READ} BIGINT, {SPLIT} STRING, {TIMES} STRING"


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
        facts, groups = Facts(times=Times() if self.times else None), bucket_keys(self.buckets)
        # Without a filter no row can be passed over, so statistics need not be looked at.
        batches = read(partial(self.program.passes, facts) if self.program.filters else None)
        rows = (made for batch in batches if batch.num_rows for made in self._inputs(batch, facts))
        # One batch waits: the last one carries the facts, which are known when all has been read.
        waiting: pa.RecordBatch | None = None
        for packed in pack(self.operator, groups, rows, self._buckets_of):
            if waiting is not None:
                yield _marked(waiting, split, Facts(), place)
            waiting = packed if packed.num_rows else waiting
        # Rows that are all filtered out still move the watermark and count as read.
        if waiting is None and facts.rows:
            waiting = _nothing_for(groups[0])
        if waiting is not None:
            yield _marked(waiting, split, facts, place)

    def _inputs(self, batch: pa.RecordBatch, facts: Facts) -> Iterator[pa.RecordBatch]:
        """Yield the operator's input; its last column stands where Spark would have put the bucket."""
        for columns in self.program.run(batch, facts):
            rows = len(next(iter(columns.values())))
            yield pa.record_batch({**columns, "bucket": pa.array(np.zeros(rows, np.int16))})

    def _buckets_of(self, table: pa.Table) -> Ints:
        return buckets_of([whole(c) for c in table.columns[: self.keys]], table.num_rows, self.buckets)


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
