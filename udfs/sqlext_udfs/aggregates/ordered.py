"""Choose the value of one row by group: FIRST, LAST, MIN_BY, MAX_BY.

A partial result begins with the place of that row in the order of arrival, NULL where there is no such row.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, Columns
from sqlext_udfs.kernel.arrow_numpy import known, numbers, taken
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.order import ranks

# Above every place in the order of arrival, and above every rank.
_NOWHERE = np.iinfo(np.int64).max


class FirstLast(Accumulator):
    """FIRST or LAST, in the order of arrival.

    Args:
        of: the value's type.
        last: whether LAST.
        skips_nulls: whether a NULL is no value (IGNORE NULLS).
    """

    def __init__(self, of: pa.DataType, *, last: bool, skips_nulls: bool) -> None:
        super().__init__((pa.int64(), of), (of,), ordered=True)
        self._last = last
        self._skips_nulls = skips_nulls

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the first or last value of each group."""
        present = known(inputs[0]) if self._skips_nulls else None
        return self._chosen(_placed(positions, present), inputs[0], groups)

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the first or last of each group's."""
        return self._chosen(partials[0], partials[1], groups)

    def renumbered(self, partials: Columns, first: int) -> list[pa.Array]:
        """Return values placed as they came."""
        return [_renumbered(partials[0], first), partials[1]]

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the values."""
        return [partials[1]]

    def _chosen(self, places: pa.Array, values: pa.Array, groups: Groups) -> list[pa.Array]:
        numbers_ = _numbers(places)
        rows = _least(-numbers_ if self._last else numbers_, known(places), groups)
        return [taken(places, rows), taken(values, rows)]


class MinMaxBy(Accumulator):
    """MIN_BY or MAX_BY(value, key): of several rows with the best key, the first that came."""

    def __init__(self, value: pa.DataType, key: pa.DataType, *, largest: bool) -> None:
        super().__init__((pa.int64(), key, value), (value,), ordered=True)
        self._largest = largest

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the value of each group's best row; one whose key is NULL is not looked at."""
        value, key = inputs
        return self._chosen(_placed(positions, known(key)), key, value, groups)

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the best of each group's."""
        places, key, value = partials
        return self._chosen(places, key, value, groups)

    def renumbered(self, partials: Columns, first: int) -> list[pa.Array]:
        """Return values placed as they came."""
        return [_renumbered(partials[0], first), *partials[1:]]

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the values."""
        return [partials[2]]

    def _chosen(self, places: pa.Array, key: pa.Array, value: pa.Array, groups: Groups) -> list[pa.Array]:
        rank = ranks(key)
        rank = -rank if self._largest else rank
        present = known(places)
        # Two passes: the best key of each group, then of its rows with that key the first that came.
        best = np.full(groups.count, _NOWHERE)
        np.minimum.at(best, groups.ids, rank if present is None else np.where(present, rank, _NOWHERE))
        among = rank == best[groups.ids]
        rows = _least(_numbers(places), among if present is None else among & present, groups)
        return [taken(c, rows) for c in (places, key, value)]


def _placed(positions: Ints, present: np.ndarray[tuple[int], np.dtype[np.bool_]] | None) -> pa.Array:
    return pa.array(positions, mask=None if present is None else ~present)


def _renumbered(places: pa.Array, first: int) -> pa.Array:
    present = known(places)
    # Results that travelled come in the order in which their pieces were made, and each gets one new place.
    return _placed(first + np.arange(len(places)), present)


def _numbers(places: pa.Array) -> Ints:
    return np.asarray(numbers(places), np.int64)


def _least(values: Ints, among: np.ndarray[tuple[int], np.dtype[np.bool_]] | None, groups: Groups) -> Ints:
    """Return the place of the row with the least value in each group; -1 where none is among those asked for."""
    rows = np.arange(len(values))
    if among is not None:
        values, rows, groups = values[among], rows[among], groups.filter(among)
    best = np.full(groups.count, _NOWHERE)
    np.minimum.at(best, groups.ids, values)
    found = np.full(groups.count, -1)
    hits = values == best[groups.ids]
    found[groups.ids[hits]] = rows[hits]
    return found
