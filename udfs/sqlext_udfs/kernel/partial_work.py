"""Decide how much partial work a worker does before rows travel.

Partial work joins rows of the same group, so its gain depends on how many rows of a group one piece has.
With few groups small pieces do, and stay in the processor's caches. With many groups larger pieces leave less.
Where nearly each row is a group of its own, plain rows take less time and space than results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_types import plain
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import BucketOperator

#: Rows that are kept back for partial work.
PATIENCE = 1 << 18
# As many times more are kept back where that helps, but no more than so many bytes.
_MORE, _MOST_BYTES = 16, 1 << 27
# The share of rows that partial work leaves, from which on it is many, and from which on the work is in vain.
_MANY, _NEARLY_ALL = 0.5, 0.95


class PartialWork:
    """Work on the rows of a partition, and give what is to travel: results of partial work, or rows.

    Args:
        operator: does the work.
        buckets_of: finds the bucket of each row, and of each result.
    """

    def __init__(self, operator: BucketOperator[Any], buckets_of: Callable[[pa.Table], Ints]) -> None:
        self._operator = operator
        self._buckets_of = buckets_of
        self._waiting: list[pa.RecordBatch] = []
        self._worked: list[pa.Table] = []
        self._patience = PATIENCE
        self._doubts = False

    def take(self, batch: pa.RecordBatch) -> Iterator[tuple[pa.Table, Ints]]:
        """Take rows; yield tables that are to leave now, with the bucket of each of their rows."""
        if batch.num_rows:  # a filter may leave none
            self._waiting.append(batch)
        if _rows(self._waiting) < self._patience:
            return
        yield from self._work()
        # Results wait to be joined once more; they leave where even the joined ones are many.
        if _rows(self._worked) > self._patience // 2:
            self._worked = [self._joined()]
            if _rows(self._worked) > self._patience // 2:
                yield self._leaving(self._worked.pop())

    def rest(self) -> Iterator[tuple[pa.Table, Ints]]:
        """Yield what is left at the end."""
        if self._waiting:
            yield from self._work()
        if self._worked:
            yield self._leaving(self._joined())

    def _work(self) -> Iterator[tuple[pa.Table, Ints]]:
        rows = plain(pa.Table.from_batches(self._waiting))
        self._waiting = []
        if self._doubts:
            buckets = self._buckets_of(rows)
            if self._is_in_vain(rows, buckets):
                yield rows, buckets
                return
        result = self._operator.partial(rows)
        self._learn(rows, result)
        self._worked.append(result)

    def _learn(self, rows: pa.Table, result: pa.Table) -> None:
        """Keep more rows back from now on, if the piece was too small for its groups."""
        share = result.num_rows / max(rows.num_rows, 1)
        self._doubts = self._operator.takes_rows and share > _MANY
        if self._doubts or _MANY < share <= _NEARLY_ALL:
            most = _MOST_BYTES * rows.num_rows // max(rows.nbytes, 1)
            self._patience = max(self._patience, min(_MORE * PATIENCE, most))

    def _is_in_vain(self, rows: pa.Table, buckets: Ints) -> bool:
        """Return whether work would leave nearly all rows, judged by one bucket: it has all rows of its keys."""
        some = rows.take(pa.array(np.flatnonzero(buckets == np.bincount(buckets).argmax())))
        return bool(self._operator.partial(some).num_rows > _NEARLY_ALL * some.num_rows)

    def _joined(self) -> pa.Table:
        """Return the results so far as one."""
        if len(self._worked) == 1:
            return self._worked[0]
        return self._operator.partial(pa.concat_tables(self._worked))

    def _leaving(self, result: pa.Table) -> tuple[pa.Table, Ints]:
        return result, self._buckets_of(result)


def _rows(tables: list[pa.RecordBatch] | list[pa.Table]) -> int:
    return sum(table.num_rows for table in tables)
