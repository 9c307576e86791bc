"""Compile the condition of ``EMIT WHEN (...)`` to JSON that an operator evaluates row by row.

It has comparisons, AND, OR, NOT and arithmetic over number literals and COUNT, SUM, AVG, MIN, MAX of the rows' numbers.
Timestamps and intervals count in milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlext.analysis.types.intervals import interval_millis
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
_OPERATORS = ("OR", "AND", "=", "<>", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/")


def condition_json(condition: e.Expr, number: Callable[[e.Node], int]) -> tuple[str, tuple[int, ...]]:
    """Return a condition as JSON, and the numbers of the rows' values that it looks at, in order.

    In the JSON an aggregate names its value by its place among these: ``["SUM", 0]``; COUNT(*) is ``["COUNT"]``.

    Raises:
        SqlExtError: EMIT-031 for what cannot stand in such a condition.
    """
    columns: list[int] = []

    def place(expr: e.Node) -> int:
        wanted = number(expr)
        if wanted not in columns:
            columns.append(wanted)
        return columns.index(wanted)

    def plain(node: e.Node) -> Any:
        if isinstance(node, e.Paren):
            return plain(node.operand)
        if isinstance(node, e.Literal) and node.kind == "NUMBER":
            return float(node.value)
        if isinstance(node, e.Interval) and (millis := interval_millis(node)) is not None:
            return float(millis)
        if isinstance(node, e.Unary) and node.op in ("-", "+", "NOT"):
            return [node.op, plain(node.operand)]
        if isinstance(node, e.Binary) and node.op in _OPERATORS:
            return [node.op, plain(node.left), plain(node.right)]
        if isinstance(node, e.Call) and node.function in _AGGREGATES and not node.distinct:
            starred = not node.args or isinstance(node.args[0], e.Star)
            return [node.function] if starred else [node.function, place(node.args[0])]
        raise SqlExtError(
            "EMIT-031",
            "a condition of EMIT WHEN is made of COUNT, SUM, AVG, MIN, MAX, numbers, comparisons and arithmetic",
            span=node.span,
            hint="compute what else it needs inside the aggregate, or use CASE for a condition on single rows",
        )

    return json.dumps(plain(condition), separators=(",", ":")), tuple(columns)
