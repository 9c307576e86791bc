"""Compare columns of two sides as numbers, so that a pair of rows is compared by two numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sqlext_udfs.expressions.comparisons import EQUALITY, OPERATORS, in_order
from sqlext_udfs.joins.specification import FLIPPED
from sqlext_udfs.kernel.arrow_numpy import Values, known, numbers, storage
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.order import can_rank


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison, with the values of some rows of both sides as numbers.

    Attributes:
        operator: stands between the left and the right value.
        left, right: numbers that compare as the values do; any number for NULL.
        left_known, right_known: which values are not NULL.
        pivot: positions of the left and the right column, if a sorted column can answer the comparison. None for
            ``<>``, for null-aware ones, and where the numbers are made for this comparison alone.
        null_aware: a comparison with NULL counts as true.
    """

    operator: str
    left: Values
    right: Values
    left_known: Bools
    right_known: Bools
    pivot: tuple[int, int] | None
    null_aware: bool

    def at(self, left: Ints, right: Ints) -> Compared:
        """Return the comparison of the rows at some places."""
        return replace(
            self,
            left=self.left[left],
            right=self.right[right],
            left_known=self.left_known[left],
            right_known=self.right_known[right],
        )

    def flipped(self) -> Compared:
        """Return the comparison with its sides exchanged."""
        pivot = None if self.pivot is None else (self.pivot[1], self.pivot[0])
        return Compared(
            FLIPPED[self.operator], self.right, self.left, self.right_known, self.left_known, pivot, self.null_aware
        )

    def holds(self, left: Ints, right: Ints) -> Bools:
        """Return for pairs of places whether the comparison is true (or NULL, where that counts)."""
        result: Bools = OPERATORS[self.operator](self.left[left], self.right[right])
        both = self.left_known[left] & self.right_known[right]
        return result | ~both if self.null_aware else result & both


def compared(
    operator: str, left: pa.Array, right: pa.Array, positions: tuple[int, int], *, null_aware: bool
) -> Compared:
    """Return a comparison of columns of one type.

    Args:
        operator: stands between them.
        left, right: the values of some rows.
        positions: of the columns.
        null_aware: a comparison with NULL counts as true.
    """
    # Floating-point numbers are ranked first: as they lie in memory NaN would compare with nothing.
    direct = _is_exact(left.type)
    if direct:
        left_values, right_values = numbers(left), numbers(right)
    else:
        left_values, right_values = in_order(operator, left, right)
    pivot = positions if direct and not null_aware and operator != "<>" else None
    return Compared(operator, left_values, right_values, _known(left), _known(right), pivot, null_aware)


def require_comparable(operator: str, left: pa.DataType, right: pa.DataType) -> None:
    """Check that values of two types can be compared.

    Raises:
        ValueError: if not; the planner casts both sides to one type, and refuses types without order.
    """
    if left != right:
        raise ValueError(f"{left} and {right} are compared as one type")
    if operator not in EQUALITY and not can_rank(left):
        raise ValueError(f"values of {left} have no order")


def best_pivot(comparisons: Sequence[Compared]) -> tuple[int, int] | None:
    """Return the side (0, 1) and position of the column that most comparisons are with; None without any."""
    columns = [(side, c.pivot[side]) for c in comparisons if c.pivot is not None for side in (1, 0)]
    return max(columns, key=columns.count, default=None)


def _is_exact(of: pa.DataType) -> bool:
    """Return whether the numbers of a type lie in memory, and compare as its values do."""
    return storage(of) is not None and not pa.types.is_floating(of)


def _known(column: pa.Array) -> Bools:
    present = known(column)
    return np.ones(len(column), np.bool_) if present is None else present
