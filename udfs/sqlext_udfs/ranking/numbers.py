"""ROW_NUMBER, RANK and DENSE_RANK of the rows of many keys at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.order import ranks
from sqlext_udfs.ranking.specification import Ranking, SortKey


def row_numbers(
    keys: Groups, columns: Sequence[pa.Array], order: Sequence[SortKey], ranking: Ranking, *, latest_first: bool
) -> Ints:
    """Return each row's number inside its key, from 1 on.

    Args:
        keys: of the rows, which stand in the order in which they came.
        columns: those that ``order`` names, one for each of its items.
        order: how to sort.
        ranking: how to number.
        latest_first: whether of equal rows the last one that came comes first.
    """
    count = len(keys.ids)
    if not count:
        return np.zeros(0, np.int64)
    sorts = [_sortable(c, item) for c, item in zip(columns, order, strict=True)]
    arrival = np.arange(count)
    places = np.lexsort((-arrival if latest_first else arrival, *reversed(sorts), keys.ids))
    of = keys.ids[places]
    begins = np.ones(count, np.bool_)
    begins[1:] = of[1:] != of[:-1]
    start = np.maximum.accumulate(np.where(begins, np.arange(count), 0))
    made = np.arange(count) - start + 1
    if ranking is not Ranking.ROW_NUMBER:
        new = begins.copy()
        for column in sorts:
            new[1:] |= column[places[1:]] != column[places[:-1]]
        if ranking is Ranking.RANK:
            made = np.maximum.accumulate(np.where(new, np.arange(count), 0)) - start + 1
        else:
            dense = np.cumsum(new)
            made = dense - dense[start] + 1
    numbers = np.empty(count, np.int64)
    numbers[places] = made
    return numbers


def _sortable(column: pa.Array, item: SortKey) -> Ints:
    """Return numbers that sort as an item of ORDER BY does."""
    made = ranks(column)
    if item.descending:
        made = -made
    if column.null_count:
        far = len(made) + 1
        made = np.where(np.asarray(column.is_null()), -far if item.nulls_first else far, made)
    return made
