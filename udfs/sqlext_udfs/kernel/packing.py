"""Pack the rows of a bucket into few binary values, each a table of many rows.

Spark hands ``transformWithState`` its input row by row, cell by cell, as Python objects. A table in one cell pays that
price once. It also keeps every type as it is, where pandas would turn integers with NULLs into floats.
These functions run in Python workers (``mapInArrow``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.kernel.partial_work import PATIENCE, PartialWork
from sqlext_udfs.kernel.table_codec import decode_rows, encode_rows
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded

#: The columns of packed rows, to Spark: the bucket's grouping key, a table, and in place of a table the time of a tick.
PACKED = "bucket INT, rows BINARY, now BIGINT"
# The most rows of one packed table on its way back.
_ROWS = 1 << 18


def last_column(table: pa.Table) -> Ints:
    """Return the bucket of each row where Spark has put it: last."""
    return integers(table.column(table.num_columns - 1))


def pack(
    operator: BucketOperator[Any],
    keys: Sequence[int],
    batches: Iterable[pa.RecordBatch],
    buckets_of: Callable[[pa.Table], Ints] = last_column,
) -> Iterator[pa.RecordBatch]:
    """Yield a partition's rows as tables, one per bucket, after the operator's partial work.

    Args:
        operator: does the partial work.
        keys: the grouping key of each bucket.
        batches: the rows; the last column is the bucket.
        buckets_of: finds the bucket of rows, or of partial results, whose last column does not have it.
    """
    work = PartialWork(operator, buckets_of)
    leaving = chain(chain.from_iterable(map(work.take, batches)), work.rest())
    for table, buckets in leaving:
        yield from packed(table, buckets, keys, operator.for_each(table))
    spare_what_is_loaded()


def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the tables in the only column."""
    for batch in batches:
        for cell in batch.column(0).drop_null():
            yield from decode_rows(memoryview(cell.as_buffer())).to_batches()
    spare_what_is_loaded()


def by_bucket(packed: pa.Table) -> list[list[pa.Table]]:
    """Return what has come to each bucket, on the same memory."""
    buckets: dict[int, list[pa.Table]] = {}
    for bucket, rows in zip(packed["bucket"].to_pylist(), chain(*packed["rows"].chunks), strict=True):
        buckets.setdefault(bucket, []).append(decode_rows(memoryview(rows.as_buffer())))
    return list(buckets.values())


def tables(table: pa.Table) -> Iterator[bytes]:
    """Yield a table as packed tables of at most 262,144 rows."""
    for start in range(0, table.num_rows, _ROWS):
        yield encode_rows(table.slice(start, _ROWS))


def packed(
    table: pa.Table, buckets: Ints, keys: Sequence[int], told: pa.Table | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield rows without their last column, packed by bucket, each bucket's in their order.

    Args:
        table: the rows; the last column is passed over.
        buckets: of each row.
        keys: the grouping key of each bucket.
        told: what each bucket gets beside its rows (``BucketOperator.for_each``).
    """
    if told is not None:
        yield _batch([*keys], [encode_rows(told)] * len(keys))
    # Numbers of 16 bits are sorted by their digits, in a third of the time.
    order = pa.array(np.argsort(buckets.astype(np.int16), kind="stable"))
    columns = [whole(c).take(order) for c in table.columns[:-1]]
    rows = pa.table(columns, table.column_names[:-1])
    ends = np.cumsum(np.bincount(buckets, minlength=len(keys)))
    starts = np.append(0, ends[:-1])
    # A cell holds at most a bucket's share of what was kept back, so that no single row of Spark's grows large.
    most = max(PATIENCE // len(keys), 1)
    # Round after round the next cell of each bucket that has rows left.
    while present := np.flatnonzero(starts < ends).tolist():
        parts = np.minimum(ends - starts, most)
        cells = [encode_rows(rows.slice(starts[b], parts[b])) for b in present]
        starts = starts + parts
        yield _batch([keys[b] for b in present], cells)


def _batch(places: list[int], cells: list[bytes]) -> pa.RecordBatch:
    columns = [pa.array(places, pa.int32()), pa.array(cells, pa.binary()), pa.nulls(len(cells), pa.int64())]
    return pa.record_batch(columns, ["bucket", "rows", "now"])
