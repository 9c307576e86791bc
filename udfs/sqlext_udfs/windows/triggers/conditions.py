"""The condition of ``EMIT WHEN (...)``: aggregates of a pane's rows so far, and a condition on them.

Written as JSON (``sqlext.analysis.emit.conditions``): ``[">", ["SUM", 0], 1000.0]``, where 0 is a place among the
row's values. NULL is as in SQL: a comparison with it is unknown, and what is unknown does not fire.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from math import isnan
from typing import Any

_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_UNARY: Mapping[str, Callable[[Any], Any]] = {"NOT": operator.not_, "-": operator.neg, "+": operator.pos}


class PaneCondition:
    """A condition on aggregates (``trigger_hooks.Condition``).

    Its state is ``{"n": rows, "c": [[count, sum, min, max], ...]}``, one entry a column.

    Args:
        text: the condition as JSON.
    """

    def __init__(self, text: str) -> None:
        self._tree = json.loads(text)
        self._columns = 1 + max(_places(self._tree), default=-1)

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
        """Return whether the condition is true."""
        return _value(self._tree, state) is True


def _places(tree: Any) -> list[int]:
    if not isinstance(tree, list):
        return []
    own = [tree[1]] if len(tree) == 2 and tree[0] in ("COUNT", "SUM", "AVG", "MIN", "MAX") else []
    return [*own, *(p for part in tree[1:] for p in _places(part))]


def _with(column: Any, value: float) -> Any:
    return column if isnan(value) else _joined(column, [1, value, value, value])


def _joined(a: Any, b: Any) -> Any:
    lows = [x for x in (a[2], b[2]) if x is not None]
    highs = [x for x in (a[3], b[3]) if x is not None]
    return [a[0] + b[0], a[1] + b[1], min(lows, default=None), max(highs, default=None)]


def _value(tree: Any, state: Any) -> Any:
    """Return a number, a truth value, or None for NULL."""
    if not isinstance(tree, list):
        return tree
    name, *parts = tree
    if name in ("COUNT", "SUM", "AVG", "MIN", "MAX"):
        return _aggregate(name, parts, state)
    values = [_value(part, state) for part in parts]
    if name in ("AND", "OR"):
        return _logical(name, values)
    if any(v is None for v in values):
        return None
    if len(values) == 1:
        return _UNARY[name](values[0])
    if name == "/":
        return values[0] / values[1] if values[1] else None
    return _COMPARE[name](*values)


def _logical(name: str, values: list[Any]) -> bool | None:
    decides = name == "OR"
    if decides in values:
        return decides
    return None if None in values else not decides


def _aggregate(name: str, places: list[int], state: Any) -> float | None:
    if not places:
        return float(state["n"])
    count, total, least, greatest = state["c"][places[0]]
    if name == "COUNT":
        return float(count)
    if not count:
        return None
    return {"SUM": total, "AVG": total / count, "MIN": least, "MAX": greatest}[name]  # type: ignore[no-any-return]
