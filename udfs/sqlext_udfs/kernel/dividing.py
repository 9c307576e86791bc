"""Divide the state of a bucket by its keys, and put states of different keys together.

So a query goes on with another number of buckets: each old bucket is divided into those that its keys come to, and
each new one is put together of what comes to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.groups import Bools, Ints

#: Given the columns of keys, those that choose the bucket first, and how many rows there are: which of them are wanted,
#: or the places of those that are, ascending.
Wanted = Callable[[Sequence[pa.Array], int], Bools | Ints]


def places_of(found: Bools | Ints) -> Ints:
    """Return the places of the rows that are wanted, ascending."""
    return np.flatnonzero(found) if found.dtype == np.bool_ else found.astype(np.int64, copy=False)


def rows_of_keys(table: pa.Table, keys: Sequence[int], wanted: Wanted) -> pa.Table:
    """Return the rows of a table whose keys are wanted.

    Args:
        table: without columns where there are no rows yet.
        keys: the places of its keys.
        wanted: which keys are.
    """
    if not table.num_rows:
        return table
    found = wanted([whole(table.column(place)) for place in keys], table.num_rows)
    # Few places of many rows are taken, so that the others are not looked at.
    return table.filter(pa.array(found)) if found.dtype == np.bool_ else table.take(pa.array(found))


def tables_together(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the rows of all tables, those without columns left out."""
    known = [table for table in tables if table.num_columns]
    return pa.concat_tables(known) if known else pa.table({})


def least(numbers: Iterable[int | None]) -> int | None:
    """Return the least of the numbers that are known."""
    return min((number for number in numbers if number is not None), default=None)


def greatest(numbers: Iterable[int | None]) -> int | None:
    """Return the greatest of the numbers that are known."""
    return max((number for number in numbers if number is not None), default=None)
