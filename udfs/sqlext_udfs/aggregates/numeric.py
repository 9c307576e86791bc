"""Compute COUNT, SUM, MIN, MAX and bitwise aggregates by group; ``known`` says what each keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, Columns
from sqlext_udfs.aggregates.exact_sums import counted_sums, decimal_sums, integer_sums, integer_sums_of_ranges
from sqlext_udfs.kernel.arrow_numpy import Values, column_of, has_numbers, integers, known, numbers, taken
from sqlext_udfs.kernel.groups import Bools, Groups, Ints
from sqlext_udfs.kernel.order import can_rank, ranks
from sqlext_udfs.kernel.ranges import Ranges

# Spark's rule: a sum has ten digits more than its values, and no DECIMAL more than 38.
_MOST_DIGITS = 38
_MORE_DIGITS = 10
# The operation of each function, and the number that changes nothing.
_BITS: dict[str, tuple[np.ufunc, int]] = {
    "bit_and": (np.bitwise_and, -1),
    "bit_or": (np.bitwise_or, 0),
    "bit_xor": (np.bitwise_xor, 0),
}


class Count(Accumulator):
    """COUNT(*) without inputs, else COUNT(x)."""

    takes_gaps = True

    def __init__(self) -> None:
        super().__init__((pa.int64(),), (pa.int64(),))

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return how many rows, or values, each group has."""
        present = known(inputs[0]) if inputs else None
        return [pa.array((groups if present is None else groups.filter(present)).sizes())]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the sums of counts."""
        return [pa.array(integer_sums(integers(partials[0]), groups))]

    def merge_ranges(self, partials: Columns, ranges: Ranges) -> list[pa.Array]:
        """Return the sums of counts."""
        return [pa.array(integer_sums_of_ranges(integers(partials[0]), ranges))]


class Sum(Accumulator):
    """SUM of integers, decimals, floating-point numbers or durations.

    Args:
        of: the type of partial result and result, which values have or are widened to.

    Raises:
        SqlExtError: RUN-035, from its steps, for a sum of integers or decimals that does not fit the type.
    """

    takes_gaps = True

    def __init__(self, of: pa.DataType) -> None:
        super().__init__((of,), (of,))
        self.type = of
        self.counts = not (pa.types.is_decimal(of) or pa.types.is_floating(of))

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the sum of each group's values; NULL without values."""
        return self._summed(inputs, groups, integer_sums)

    def start_counting(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return what ``start`` does; after that the groups have their sizes."""
        return self._summed(inputs, groups, counted_sums)

    def _summed(self, inputs: Columns, groups: Groups, integers_of: Callable[[Values, Groups], Ints]) -> list[pa.Array]:
        (column,) = inputs
        if pa.types.is_null(column.type):
            return [pa.nulls(groups.count, self.type)]
        # Which groups have values is asked last: where their sizes are known by then, it needs no look at all rows.
        if pa.types.is_decimal(self.type):
            sums = decimal_sums(column, groups, self.type)
            return [_masked(sums, _present(column, groups))]
        values = numbers(column)
        floating = pa.types.is_floating(self.type)
        found = np.bincount(groups.ids, values, groups.count) if floating else integers_of(values, groups)
        return [column_of(found, self.type, _present(column, groups))]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the sum of each group's sums."""
        # A sum of sums. ``start`` looks at no positions.
        return self.start(partials, groups, groups.ids)

    def merge_ranges(self, partials: Columns, ranges: Ranges) -> list[pa.Array]:
        """Return the sum of each range's sums."""
        # What is rounded depends on where adding begins: at each range, and not at the first of all.
        if pa.types.is_decimal(self.type) or pa.types.is_floating(self.type):
            return super().merge_ranges(partials, ranges)
        (column,) = partials
        sums = integer_sums_of_ranges(numbers(column), ranges)
        return [column_of(sums, self.type, ranges.have(known(column)))]


def sum_of(of: pa.DataType) -> Sum | None:
    """Return the accumulator of SUM over a type; None for a type without sums.

    Decimals get ten digits more, at most 38, as in Spark.
    """
    if pa.types.is_integer(of):
        return Sum(pa.int64())
    if pa.types.is_floating(of) or pa.types.is_null(of):
        return Sum(pa.float64())
    if pa.types.is_decimal(of):
        return Sum(pa.decimal128(min(_MOST_DIGITS, of.precision + _MORE_DIGITS), of.scale))
    return Sum(of) if pa.types.is_duration(of) else None


class Bits(Accumulator):
    """BIT_AND, BIT_OR, BIT_XOR of integers."""

    def __init__(self, name: str, of: pa.DataType) -> None:
        super().__init__((of,), (of,))
        self._type = of
        self._join, self._start = _BITS[name]

    @classmethod
    def of(cls, name: str, of: pa.DataType) -> Bits | None:
        """Return the accumulator over a type; None for one that has no bits."""
        return cls(name, of) if pa.types.is_integer(of) else None

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the bits of each group's values; NULL without values."""
        (column,) = inputs
        values, present = numbers(column), known(column)
        if present is not None:
            values, groups = values[present], groups.filter(present)
        # ``at`` and not ``reduceat``: rows of a group need not lie together.
        made = np.full(groups.count, self._start, values.dtype)
        self._join.at(made, groups.ids, values)
        return [column_of(made, self._type, groups.used())]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the bits of several."""
        return self.start(partials, groups, groups.ids)

    def merge_ranges(self, partials: Columns, ranges: Ranges) -> list[pa.Array]:
        """Return the bits of each range's."""
        (column,) = partials
        return [_reduced(self._join, self._start, numbers(column), column, ranges)]


class MinMax(Accumulator):
    """MIN or MAX, by the order of ``kernel.order``: NaN is the largest number.

    Args:
        name: ``min`` or ``max``.
        of: the values' type.
    """

    takes_gaps = True

    def __init__(self, name: str, of: pa.DataType) -> None:
        super().__init__((of,), (of,))
        self.name = name
        self.type = of

    def start(self, inputs: Columns, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return each group's least or largest value."""
        (column,) = inputs
        if pa.types.is_null(self.type):
            return [pa.nulls(groups.count)]
        if pa.types.is_nested(self.type):
            rows = _extreme_rows(ranks(column), known(column), groups, largest=self.name == "max")
            return [taken(column, rows)]
        if not has_numbers(self.type):
            # Text, binary and decimals do not lie in memory as numbers.
            return [_extreme_by_arrow(self.name, column, groups)]
        present = known(column)
        values = numbers(column)
        if present is not None:
            values, groups = values[present], groups.filter(present)
        return [column_of(_extreme(self.name, values, groups), self.type, groups.used())]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the least or largest of each group's."""
        return self.start(partials, groups, groups.ids)

    def merge_ranges(self, partials: Columns, ranges: Ranges) -> list[pa.Array]:
        """Return the least or largest of each range's."""
        if not has_numbers(self.type):
            return super().merge_ranges(partials, ranges)
        (column,) = partials
        values = _one_zero(numbers(column))
        return [_reduced(*_least_or_largest(self.name, values.dtype), values, column, ranges)]


def extreme_of(name: str, of: pa.DataType) -> MinMax | None:
    """Return the accumulator of MIN or MAX over a type; None for one whose order is not defined here."""
    return MinMax(name, of) if can_rank(of) else None


def _extreme(name: str, values: Values, groups: Groups) -> Values:
    values = _one_zero(values)
    join, start = _least_or_largest(name, values.dtype)
    best = np.full(groups.count, start, values.dtype)
    with np.errstate(invalid="ignore"):
        join.at(best, groups.ids, values)
    return best


def _one_zero(values: Values) -> Values:
    """Return numbers of which -0.0 and 0.0 are one value: 0.0."""
    return values + values.dtype.type(0) if np.issubdtype(values.dtype, np.floating) else values


def _least_or_largest(name: str, of: np.dtype[Any]) -> tuple[np.ufunc, Any]:
    """Return the operation of MIN or MAX, and the number that changes nothing."""
    floating = np.issubdtype(of, np.floating)
    if name == "max":
        # NaN, if there is one: it is the largest.
        return np.maximum, -np.inf if floating else np.iinfo(of).min
    # fmin takes a number before NaN, so that NaN stays where there is nothing else.
    return (np.fmin, np.nan) if floating else (np.minimum, np.iinfo(of).max)


def _reduced(join: np.ufunc, start: Any, values: Values, column: pa.Array, ranges: Ranges) -> pa.Array:
    """Return the values of each range joined, as the column that they are of; NULL without values."""
    present = known(column)
    if present is not None:
        values = np.where(present, values, values.dtype.type(start))
    with np.errstate(invalid="ignore"):
        return column_of(ranges.reduced(join, values), column.type, ranges.have(present))


def _extreme_rows(rank: Ints, present: Bools | None, groups: Groups, *, largest: bool) -> Ints:
    """Return the place of a row with the least or largest rank in each group, -1 for none."""
    keys = -rank if largest else rank
    places = np.arange(len(rank))
    if present is not None:
        keys, places, groups = keys[present], places[present], groups.filter(present)
    found = np.full(groups.count, -1)
    # Best last: of several values for one place the last one stays.
    order = np.argsort(keys, kind="stable")[::-1]
    found[groups.ids[order]] = places[order]
    return found


def _extreme_by_arrow(name: str, column: pa.Array, groups: Groups) -> pa.Array:
    # No threads: there is a worker per core already.
    table = pa.table([pa.array(groups.ids), column], ["group", "value"])
    found = table.group_by("group", use_threads=False).aggregate([("value", name)])
    places = np.full(groups.count, -1, np.int64)
    places[integers(found.column("group"))] = np.arange(found.num_rows)
    return taken(found.column(f"value_{name}").combine_chunks(), places)


def _present(column: pa.Array, groups: Groups) -> Bools:
    """Return which groups have a value."""
    present = known(column)
    return (groups if present is None else groups.filter(present)).used()


def _masked(column: pa.Array, present: Bools) -> pa.Array:
    if present.all():
        return column
    return taken(column, np.where(present, np.arange(len(present)), -1))
