"""Aggregate rows that may leave again: counts and sums, kept as numbers and not as rows.

Sums are exact, also those of DOUBLE, so a group's result depends only on the rows that it has now. Flink subtracts
floating-point numbers and keeps what rounding, NaN and Infinity leave behind.

| function | partial result |
|---|---|
| count | BIGINT |
| sum of integers, decimals, durations | how many values, their sum |
| sum of DOUBLE and FLOAT | how many values, NaNs, Infinities, -Infinities; the digits of the finite ones' sum |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates import exact_doubles
from sqlext_udfs.aggregates.accumulator import AggregateCall, Columns, Types
from sqlext_udfs.aggregates.exact_sums import decimal_sums, integer_sums
from sqlext_udfs.aggregates.numeric import sum_of
from sqlext_udfs.kernel.arrow_numpy import Values, column_of, integers, known, numbers, whole
from sqlext_udfs.kernel.groups import Bools, Groups, Ints


class Retractable(ABC):
    """Aggregate weighted rows: a row of weight 2 counts twice, one of weight -1 is taken back.

    Attributes:
        partial_types: of the columns of a partial result.
        output_type: of the result.
    """

    partial_types: Types
    output_type: pa.DataType

    @abstractmethod
    def start(self, inputs: Columns, weights: Ints, groups: Groups) -> list[pa.Array]:
        """Return a partial result of the rows of each group."""

    @abstractmethod
    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return a partial result of the partial results of each group."""

    @abstractmethod
    def finish(self, partials: Columns) -> pa.Array:
        """Return the result."""


def retractable(aggregate: AggregateCall, types: Sequence[pa.DataType]) -> Retractable | None:
    """Return how an aggregate over inputs of some types is kept as numbers; None for one that needs its rows."""
    if aggregate.distinct:
        return None
    if aggregate.function == "count":
        return _Count()
    made = sum_of(types[aggregate.inputs[0]]) if aggregate.function == "sum" else None
    if made is None:
        return None
    return _DoubleSum() if pa.types.is_floating(made.type) else _Sum(made.type)


class _Count(Retractable):
    partial_types = (pa.int64(),)
    output_type = pa.int64()

    def start(self, inputs: Columns, weights: Ints, groups: Groups) -> list[pa.Array]:
        present = known(inputs[0]) if inputs else None
        return [pa.array(integer_sums(weights if present is None else weights * present, groups))]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        return [pa.array(integer_sums(integers(partials[0]), groups))]

    def finish(self, partials: Columns) -> pa.Array:
        return whole(partials[0])


class _Sum(Retractable):
    """A sum of integers, decimals or durations."""

    def __init__(self, of: pa.DataType) -> None:
        self.partial_types = (pa.int64(), of)
        self.output_type = of

    def start(self, inputs: Columns, weights: Ints, groups: Groups) -> list[pa.Array]:
        return [pa.array(_values(inputs[0], weights, groups)), self._added(inputs[0], weights, groups)]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        count, total = partials
        once = np.ones(len(total), np.int64)
        return [pa.array(integer_sums(integers(count), groups)), self._added(total, once, groups)]

    def finish(self, partials: Columns) -> pa.Array:
        count, total = partials
        return _where(integers(count) > 0, whole(total))

    def _added(self, column: pa.Array, weights: Ints, groups: Groups) -> pa.Array:
        if pa.types.is_decimal(self.output_type):
            return decimal_sums(column, groups, self.output_type, weights)
        return column_of(integer_sums(numbers(column), groups, weights), self.output_type)


class _DoubleSum(Retractable):
    partial_types = (*(pa.int64() for _ in range(5)), pa.list_(pa.int64()))
    output_type = pa.float64()

    def start(self, inputs: Columns, weights: Ints, groups: Groups) -> list[pa.Array]:
        (column,) = inputs
        if pa.types.is_null(column.type):
            column = column.cast(pa.float64())
        values: Values = numbers(column).astype(np.float64)
        # NaN and infinities could not leave a sum again, so they are counted beside it.
        special = (np.isnan(values), values == np.inf, values == -np.inf)
        counts = [integer_sums(weights * s, groups) for s in special]
        finite = np.where(np.isfinite(values), values, 0.0)
        sums = exact_doubles.started(finite, weights, groups)
        return [pa.array(_values(column, weights, groups)), *map(pa.array, counts), *sums]

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        *counts, low, digits = partials
        added = [pa.array(integer_sums(integers(c), groups)) for c in counts]
        return [*added, *exact_doubles.merged(whole(low), whole(digits), groups)]

    def finish(self, partials: Columns) -> pa.Array:
        count, nans, more, less = (integers(c) > 0 for c in partials[:4])
        values = exact_doubles.rounded(whole(partials[4]), whole(partials[5]))
        # As IEEE 754 adds: an infinity wins over numbers, and both infinities together are NaN.
        values = np.where(more, np.inf, np.where(less, -np.inf, values))
        return _where(count, pa.array(np.where(nans | (more & less), np.nan, values)))


def _values(column: pa.Array, weights: Ints, groups: Groups) -> Ints:
    """Return how many values that are not NULL each group has."""
    present = known(column)
    return integer_sums(weights if present is None else weights * present, groups)


def _where(present: Bools, column: pa.Array) -> pa.Array:
    """Return a column with NULL where there is no value."""
    if present.all():
        return column
    return column.take(pa.array(np.arange(len(present)), mask=~present))
