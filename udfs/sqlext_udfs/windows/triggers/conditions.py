"""Evaluate the condition of ``EMIT WHEN (...)``: aggregates of a pane's rows so far, and a condition on them.

The condition is JSON (``sqlext.analysis.emit.conditions``): ``[">", ["SUM", 0], 1000.0]``, where 0 is a place among the
row's values. NULL is as in SQL: a comparison with it is unknown, and what is unknown does not fire.
"""

from __future__ import annotations

import json
from math import isnan
from typing import Any

from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.numbers import Policy
from sqlext_udfs.expressions.row_by_row import Evaluate, RowByRow

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
# The operator of each spelling.
_COMPARISONS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_DOUBLE = e.Number("DOUBLE")
#: The length of a quotient with a type: the operator, both operands, the type.
_TYPED = 4


class PaneCondition:
    """A condition on aggregates (``triggers.hooks.Condition``).

    Its state is ``{"n": rows, "c": [[count, sum, min, max], ...]}``, one entry a column.

    Args:
        text: the condition as JSON.
    """

    def __init__(self, text: str) -> None:
        tree = json.loads(text)
        self._columns = 1 + max(_places(tree), default=-1)
        self._holds = _Aggregates(Policy("EMIT WHEN", wraps=_has_types(tree))).function(_expression(tree))

    def start(self) -> Any:
        """Return the aggregates of no rows."""
        return {"n": 0, "c": [[0, 0.0, None, None] for _ in range(self._columns)]}

    def add(self, state: Any, values: tuple[float, ...]) -> Any:
        """Return the aggregates with one row more; NaN is NULL."""
        return {"n": state["n"] + 1, "c": [_with(c, v) for c, v in zip(state["c"], values, strict=False)]}

    def merge(self, one: Any, other: Any) -> Any:
        """Return the aggregates of both."""
        pairs = zip(one["c"], other["c"], strict=True)
        return {"n": one["n"] + other["n"], "c": [_joined(a, b) for a, b in pairs]}

    def holds(self, state: Any) -> bool:
        """Return whether the condition is true.

        Raises:
            SqlExtError: RUN-040 for a division by zero, RUN-041 for a quotient that is too large.
        """
        return self._holds(state, None) is True


def _places(tree: Any) -> list[int]:
    if not isinstance(tree, list):
        return []
    own = [tree[1]] if len(tree) == 2 and tree[0] in _AGGREGATES else []
    return [*own, *(p for part in tree[1:] for p in _places(part))]


def _with(column: Any, value: float) -> Any:
    return column if isnan(value) else _joined(column, [1, value, value, value])


def _joined(a: Any, b: Any) -> Any:
    lows = [x for x in (a[2], b[2]) if x is not None]
    highs = [x for x in (a[3], b[3]) if x is not None]
    return [a[0] + b[0], a[1] + b[1], min(lows, default=None), max(highs, default=None)]


def _has_types(tree: Any) -> bool:
    """Return whether its quotients have Flink's types."""
    return isinstance(tree, list) and (len(tree) == _TYPED or any(map(_has_types, tree[1:])))


def _expression(tree: Any) -> e.Expression:
    """Return JSON as the tree of an expression."""
    if not isinstance(tree, list):
        return e.Constant(tree)
    name, *parts = tree
    if name == "AVG":
        return e.Arithmetic("/", _expression(["SUM", *parts]), _expression(["COUNT", *parts]), _DOUBLE)
    if name in _AGGREGATES:
        return e.Running(name.lower(), parts[0] if parts else None, 0)
    if name == "/":
        left, right, *of = parts
        return e.Arithmetic(name, _expression(left), _expression(right), e.Number(*of) if of else _DOUBLE)
    items = tuple(map(_expression, parts))
    if name in ("AND", "OR"):
        return e.And(items) if name == "AND" else e.Or(items)
    if name == "NOT":
        return e.Not(*items)
    if name in _COMPARISONS:
        return e.Compare(_COMPARISONS[name], *items)
    if len(items) == 1:
        return items[0] if name == "+" else e.Negate(*items, _DOUBLE)
    return e.Arithmetic(name, items[0], items[1], _DOUBLE)


class _Aggregates(RowByRow[Any, None]):
    """Conditions as functions of a pane's state."""

    def cell(self, of: e.Cell) -> Evaluate[Any, None]:
        """Refuse a value of one row."""
        raise TypeError("a pane has no rows")

    def running(self, of: e.Running) -> Evaluate[Any, None]:
        """Return the function that gives an aggregate."""
        value = of.value
        if value is None:
            return lambda state, _: state["n"]
        place = ("count", "sum", "min", "max").index(of.function)
        # Of no values SUM is NULL; the state has 0.0 to add to.
        if of.function == "sum":
            return lambda state, _: state["c"][value][place] if state["c"][value][0] else None
        return lambda state, _: state["c"][value][place]
