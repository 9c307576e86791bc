"""Decide from statistics whether a condition may hold for rows that have not been read.

As Spark and Flink skip row groups of parquet by their statistics. What is not known to be false may be true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sqlext_udfs.expressions.columns import Apply, Case, Coalesce, Column, Compare, Connected, Expression, Literal, Rows
from sqlext_udfs.expressions.functions import FUNCTIONS

#: Functions that keep the order of values: of the least value they give the least, and fail at an end or nowhere.
_MONOTONE = frozenset(
    {"cast", "checked cast", "unix_millis", "timestamp_millis", "timestamp_seconds", "as instant", "as wall clock"}
)
#: Functions that fail for some values; others fail where their operands do.
_FAILING = frozenset({"checked cast", "timestamp_millis", "timestamp_seconds", "shifted"})
#: Expressions that fail where their operands do, as far as those are evaluated.
_OF_OPERANDS = (Apply, Compare, Connected, Case, Coalesce)


@dataclass(frozen=True)
class ColumnBounds:
    """The values of a column in some rows.

    Attributes:
        values: the least and the largest one; none where all are NULL.
        nulls: how many are NULL.
    """

    values: pa.Array
    nulls: int

    @property
    def span(self) -> tuple[Any, Any] | None:
        """The two as values that can be compared, times as numbers; None where all are NULL."""
        values = self.values
        if not len(values):
            return None
        # As numbers: a datetime of Python ends with the year 9999, a time of Arrow does not.
        if pa.types.is_timestamp(values.type):
            values = values.view(pa.int64())
        elif pa.types.is_date32(values.type):
            values = values.view(pa.int32())
        least, largest = values.to_pylist()
        return least, largest


#: Column -> its bounds; one that is not there may have any value.
Known = Mapping[str, ColumnBounds]


def bounds_of(expression: Expression, known: Known) -> ColumnBounds | None:
    """Return the bounds of an expression; None where they are not known, or it fails for one of them."""
    if isinstance(expression, Column):
        return known.get(expression.name)
    if isinstance(expression, Literal) and expression.value is not None:
        return ColumnBounds(expression.evaluate(Rows.of({}, 2)), 0)
    if not isinstance(expression, Apply) or expression.function not in _MONOTONE:
        return None
    (of,) = expression.inputs
    inner = bounds_of(of, known)
    try:
        made = None if inner is None else FUNCTIONS[expression.function](expression.type, inner.values)
    except pa.ArrowInvalid:
        return None
    return ColumnBounds(made, inner.nulls) if inner is not None else None


def can_fail(expression: Expression, known: Known) -> bool:
    """Return whether an expression may fail for one of the rows."""
    if not expression.fails:
        return False
    if isinstance(expression, Apply) and expression.function in _FAILING:
        return bounds_of(expression, known) is None
    return not isinstance(expression, _OF_OPERANDS) or any(can_fail(i, known) for i in expression.inputs)


def may_hold(condition: Expression, known: Known) -> bool:
    """Return whether a condition may hold for one of the rows."""
    if isinstance(condition, Literal):
        return bool(condition.value)
    if isinstance(condition, Connected):
        return (any if condition.decides else all)(may_hold(c, known) for c in condition.inputs)
    sides = [bounds_of(i, known) for i in condition.inputs]
    if isinstance(condition, Compare):
        return _may_compare(_COMPARISONS[condition.op], sides)
    if not isinstance(condition, Apply):
        return True
    if condition.function == "is null":
        return sides[0] is None or sides[0].nulls > 0
    if condition.function == "is not null":
        return sides[0] is None or sides[0].span is not None
    return True


def _may_compare(rule: Callable[[Any, Any], bool], sides: list[ColumnBounds | None]) -> bool:
    one, other = sides
    if (one is not None and one.span is None) or (other is not None and other.span is None):
        return False  # a comparison with NULL does not hold
    if one is None or other is None or not _alike(one.values.type, other.values.type):
        return True
    return rule(one.span, other.span)


def _alike(one: pa.DataType, other: pa.DataType) -> bool:
    # Integers of any width are compared as they are; times of two kinds or units would not be.
    return bool(one == other or (pa.types.is_integer(one) and pa.types.is_integer(other)))


#: Comparison -> whether it may hold between values of two spans.
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: one[0] <= other[1] and other[0] <= one[1],
    "<>": lambda one, other: not one[0] == one[1] == other[0] == other[1],
    "<": lambda one, other: one[0] < other[1],
    "<=": lambda one, other: one[0] <= other[1],
    ">": lambda one, other: one[1] > other[0],
    ">=": lambda one, other: one[1] >= other[0],
}
