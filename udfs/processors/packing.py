"""Rows travel to their bucket and back as few binary values, each a table of many rows.

Spark hands ``transformWithState`` its input row by row, cell by cell as Python objects. A table in one cell costs
that once, and keeps every type as it is (pandas would turn integers with NULLs into floats).

These functions run in Python workers (``mapInArrow``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext.udfs.core.arrow_numpy import integers
from sqlext.udfs.core.arrow_types import plain
from sqlext.udfs.core.groups import Ints
from sqlext.udfs.core.operators import BucketOperator
from sqlext.udfs.core.table_codec import decode_rows, encode_rows
from sqlext.udfs.processors.worker_memory import spare_what_is_loaded

#: The columns of packed rows, to Spark: the grouping key of the bucket, a table, and in a tick the time in its place.
PACKED = "bucket INT, rows BINARY, now BIGINT"
# Rows kept back in a worker for partial work, and the most rows of one packed table.
_PATIENCE = 1 << 18


def last_column(table: pa.Table) -> Ints:
    """Return the bucket of each row where Spark has put it: last."""
    return integers(table.column(table.num_columns - 1))


def pack(
    operator: BucketOperator[Any],
    keys: Sequence[int],
    batches: Iterable[pa.RecordBatch],
    buckets_of: Callable[[pa.Table], Ints] = last_column,
) -> Iterator[pa.RecordBatch]:
    """Yield a partition's rows, worked on as far as they can be here, as a table per bucket.

    Args:
        operator: does the partial work.
        keys: the grouping key of each bucket.
        batches: the rows; the last column is the bucket.
        buckets_of: finds the bucket of rows, or of partial results, whose last column does not have it.
    """
    waiting: list[pa.RecordBatch] = []
    worked: list[pa.Table] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= _PATIENCE:
            worked.append(_partial(operator, waiting))
            waiting = []
            if sum(t.num_rows for t in worked) > _PATIENCE // 2:
                worked = [_joined(operator, worked)]
                if worked[0].num_rows > _PATIENCE // 2:
                    yield _packed(worked.pop(), keys, buckets_of)
    if waiting:
        worked.append(_partial(operator, waiting))
    if worked:
        yield _packed(_joined(operator, worked), keys, buckets_of)
    spare_what_is_loaded()


def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the tables in the only column."""
    for batch in batches:
        for cell in batch.column(0).drop_null():
            yield from decode_rows(memoryview(cell.as_buffer())).to_batches()
    spare_what_is_loaded()


def tables(table: pa.Table) -> Iterator[bytes]:
    """Yield a table as packed tables."""
    for start in range(0, table.num_rows, _PATIENCE):
        yield encode_rows(table.slice(start, _PATIENCE))


def _partial(operator: BucketOperator[Any], batches: list[pa.RecordBatch]) -> pa.Table:
    return operator.partial(plain(pa.Table.from_batches(batches)))


def _joined(operator: BucketOperator[Any], worked: list[pa.Table]) -> pa.Table:
    """Return results of partial work as one; work that hardly made the rows fewer is not done twice on them."""
    if len(worked) == 1:
        return worked[0]
    return operator.partial(pa.concat_tables(worked))


def _packed(table: pa.Table, keys: Sequence[int], buckets_of: Callable[[pa.Table], Ints]) -> pa.RecordBatch:
    """Return rows without their last column, grouped by bucket, each bucket's in their order."""
    last = table.num_columns - 1
    buckets = buckets_of(table)
    order = np.argsort(buckets, kind="stable")
    present, starts = np.unique(buckets[order], return_index=True)
    ends = np.append(starts, len(order))[1:]  # none where all rows have cancelled out
    rows = table.remove_column(last).take(order)
    cells = [encode_rows(rows.slice(a, b - a)) for a, b in zip(starts, ends, strict=True)]
    places = pa.array([keys[b] for b in present], pa.int32())
    no_time = pa.nulls(len(cells), pa.int64())
    return pa.record_batch([places, pa.array(cells, pa.binary()), no_time], ["bucket", "rows", "now"])
