"""Keep exact sets of values by group: COLLECT_SET, and DISTINCT around any other aggregate."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, Columns
from sqlext_udfs.kernel.arrow_numpy import known, taken, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Groups, Ints, codes, dense
from sqlext_udfs.kernel.list_columns import elements, lists_of


class DistinctValues(Accumulator):
    """Keep each group's different values, and compute another aggregate over them at the end.

    Args:
        of: the values' type.
        inner: that aggregate; None: the values are the result.
    """

    def __init__(self, of: pa.DataType, inner: Accumulator | None) -> None:
        values = pa.list_(of)
        super().__init__((values,), (values,) if inner is None else inner.output_types)
        self._inner = inner

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return each group's different values."""
        (column,) = inputs
        present = known(column)
        if present is not None:
            column, groups = column.drop_null(), groups.filter(present)
        return [_different(column, groups)]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return each group's different values of several sets."""
        values, owners = elements(partials[0])
        return [_different(values, Groups(groups.ids[owners.ids], groups.count))]

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the sets, or what the other accumulator makes of them."""
        if self._inner is None:
            return list(partials)
        values, groups = elements(partials[0])
        return self._inner.finish(self._inner.start([values], groups, np.arange(len(values))))


def codes_of(values: pa.Array) -> tuple[Ints, int]:
    """Return a number for each value, the same for equal ones, and how many numbers there are."""
    return codes(whole(normalised(pa.table([values], ["value"])).column(0)))


def _different(values: pa.Array, groups: Groups) -> pa.Array:
    """Return each group's different values as a list, in the order in which they first came."""
    values = whole(normalised(pa.table([values], ["value"])).column(0))
    numbers, count = codes(values)
    # Sorted places keep the values in the order of arrival.
    first = np.sort(dense(groups.ids * count + numbers, groups.count * count).first())
    return lists_of(taken(values, first), Groups(groups.ids[first], groups.count))
