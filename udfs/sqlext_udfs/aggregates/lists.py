"""Keep all values of a group: COLLECT_LIST, PERCENTILE, MODE."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, Columns
from sqlext_udfs.aggregates.sets import codes_of
from sqlext_udfs.kernel.arrow_numpy import integers, known, taken
from sqlext_udfs.kernel.groups import Groups, Ints, dense
from sqlext_udfs.kernel.list_columns import elements, joined_lists, lengths, lists_of, ordered_within
from sqlext_udfs.kernel.order import ranks


class Collect(Accumulator):
    """COLLECT_LIST: the values that are not NULL, in the order of arrival.

    Args:
        of: the values' type.
        places: whether each value's place in the order of arrival is kept beside it: where partial results can meet
            that are not one after the other (sessions, slices).
    """

    def __init__(self, of: pa.DataType, *, places: bool) -> None:
        self._places = places
        values = pa.list_(of)
        super().__init__((values, pa.list_(pa.int64())) if places else (values,), (values,), ordered=True)

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return each group's values."""
        (column,) = inputs
        present = known(column)
        if present is not None:
            column, groups, positions = column.drop_null(), groups.filter(present), positions[present]
        made = [lists_of(column, groups)]
        return [*made, lists_of(pa.array(positions), groups)] if self._places else made

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return each group's lists as one."""
        if not self._places:
            return [joined_lists(partials[0], groups)]
        values, owners = elements(partials[0])
        places, _ = elements(partials[1])
        into = Groups(groups.ids[owners.ids], groups.count)
        order = ordered_within(into, integers(places))
        into = Groups(into.ids[order], into.count)
        return [lists_of(taken(column, order), into) for column in (values, places)]

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the lists."""
        return [partials[0]]


class _Kept(Accumulator):
    """All values of a group, in no order."""

    def __init__(self, of: pa.DataType, result: pa.DataType) -> None:
        super().__init__((pa.list_(of),), (result,))

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return each group's values."""
        (column,) = inputs
        present = known(column)
        return [lists_of(column.drop_null(), groups if present is None else groups.filter(present))]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return each group's lists as one."""
        return [joined_lists(partials[0], groups)]


class Percentile(_Kept):
    """PERCENTILE: exact, with linear interpolation between two values, as Spark's ``percentile``.

    Args:
        of: the values' type, DOUBLE in and out; with ``discrete`` any that can be ranked.
        percentage: from 0 to 1.
        discrete: PERCENTILE_DISC: the first value whose share of the rows reaches the percentage.
    """

    def __init__(self, of: pa.DataType, percentage: float, *, discrete: bool) -> None:
        super().__init__(of, of if discrete else pa.float64())
        self._percentage = percentage
        self._discrete = discrete

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return each group's percentile; NULL without values."""
        values, groups = elements(partials[0])
        sizes = lengths(partials[0])
        order = ordered_within(groups, ranks(values))
        heads = np.cumsum(sizes) - sizes
        if self._discrete:
            places = heads + np.maximum(np.ceil(self._percentage * sizes).astype(np.int64) - 1, 0)
            return [taken(taken(values, order), np.where(sizes > 0, places, -1))]
        where = self._percentage * np.maximum(sizes - 1, 0)
        low, high = heads + np.floor(where).astype(np.int64), heads + np.ceil(where).astype(np.int64)
        # A last number, to read at the place of an empty list at the end; the mask hides it.
        numbers = np.append(np.asarray(values.cast(pa.float64()).to_numpy(), np.float64)[order], np.nan)
        last = len(numbers) - 1
        lower, higher = numbers[np.minimum(low, last)], numbers[np.minimum(high, last)]
        share = where - np.floor(where)
        # An infinity times 0 is NaN; where both places are one place, the lower value is taken.
        with np.errstate(invalid="ignore"):
            made = np.where(low == high, lower, (1 - share) * lower + share * higher)
        return [pa.array(made, mask=sizes == 0)]


class Mode(_Kept):
    """MODE: the value that is there most often; of several the least."""

    def __init__(self, of: pa.DataType) -> None:
        super().__init__(of, of)

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return each group's mode; NULL without values."""
        values, groups = elements(partials[0])
        found = np.full(groups.count, -1)
        if len(values):
            codes, count = codes_of(values)
            pairs = dense(groups.ids * count + codes, groups.count * count)
            first = pairs.first()
            # Last in this order is the most frequent, and of those the least: it stays in ``found``.
            order = np.lexsort((-ranks(values)[first], pairs.sizes()))
            found[groups.ids[first[order]]] = first[order]
        return [taken(values, found)]
