"""Conditions on pairs of rows that are more than a comparison of one side with the other: ``a.x + b.y > 1 OR a.z``.

They are ``trees`` whose cells look at a column (``value``) of a side (``group``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.columns import Column, Expression, Rows, all_of
from sqlext_udfs.expressions.numbers import Policy
from sqlext_udfs.expressions.typed import Typed
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Bools, Ints

Sides = tuple[Sequence[pa.Array], Sequence[pa.Array]]


class PairConditions:
    """Conditions, all of which must hold.

    Args:
        conditions: of cells whose values are places among the columns of their side.
        wraps: whether integers wrap around where they are too large (Flink); else they fail.
    """

    def __init__(self, conditions: Sequence[e.Expression], *, wraps: bool) -> None:
        self._conditions = conditions
        self._policy = Policy("the condition of a join", wraps=wraps)
        self._typed: Expression | None = None

    def holds(self, sides: Sides, left: Ints, right: Ints) -> Bools:
        """Return for pairs of places in the columns of both sides whether all conditions are true.

        Raises:
            SqlExtError: RUN-040 for a division by zero, RUN-041 for a number that is too large.
        """
        if not len(left) or not self._conditions:
            return np.ones(len(left), np.bool_)
        if self._typed is None:  # columns of an operator keep their types
            typed = Typed(_cell_of(sides), self._policy)
            self._typed = all_of(typed.expression(c) for c in self._conditions)
        places = left, right
        pairs = Rows(lambda cell: taken(sides[cell.group][cell.value], places[cell.group]), len(left))
        return np.asarray(pc.fill_null(self._typed.evaluate(pairs), False).to_numpy(zero_copy_only=False))


def _cell_of(sides: Sides) -> Callable[[e.Cell], Expression]:
    return lambda cell: Column(sides[cell.group][cell.value].type, name=cell)
