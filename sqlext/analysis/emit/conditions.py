"""Compile the condition of ``EMIT WHEN (...)`` to JSON that an operator evaluates row by row.

It has comparisons, AND, OR, NOT and arithmetic over number literals and COUNT, SUM, AVG, MIN, MAX of the rows' numbers.
Timestamps and intervals count in milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlext.analysis.types.inference import infer
from sqlext.analysis.types.literals import interval_millis
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.plan.scope import Scope

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
_OPERATORS = ("OR", "AND", "=", "<>", "!=", "<", "<=", ">", ">=", "+", "-", "*")


def condition_json(condition: e.Expr, number: Callable[[e.Node], int], scope: Scope) -> tuple[str, tuple[int, ...]]:
    """Return a condition as JSON, and the numbers of the rows' values that it looks at, in order.

    In the JSON an aggregate names its value by its place among these: ``["SUM", 0]``; COUNT(*) is ``["COUNT"]``. With
    Flink's types a quotient names its own: ``["/", ["COUNT"], 2.0, "BIGINT"]``.

    Raises:
        SqlExtError: EMIT-031 for what cannot stand in such a condition.
    """
    columns: list[int] = []

    def place(expr: e.Node) -> int:
        wanted = number(expr)
        if wanted not in columns:
            columns.append(wanted)
        return columns.index(wanted)

    def quotient(node: e.Expr, left: Any, right: Any) -> Any:
        type_ = infer(node, scope) if scope.mode == "flink" else None
        if type_ is not None and (type_.is_integer or type_.root == "INTERVAL_DAY_TIME"):
            return ["/", left, right, "BIGINT"]
        return ["/", left, right, "DOUBLE"] if type_ is not None and type_.is_approximate else ["/", left, right]

    def plain(node: e.Node) -> Any:
        if isinstance(node, e.Paren):
            return plain(node.operand)
        if isinstance(node, e.Literal) and node.kind == "NUMBER":
            return float(node.value)
        if isinstance(node, e.Interval) and (millis := interval_millis(node)) is not None:
            return float(millis)
        if isinstance(node, e.Unary) and node.op in ("-", "+", "NOT"):
            return [node.op, plain(node.operand)]
        if isinstance(node, e.Binary) and node.op == "/":
            return quotient(node, plain(node.left), plain(node.right))
        if isinstance(node, e.Binary) and node.op in _OPERATORS:
            return [node.op, plain(node.left), plain(node.right)]
        if isinstance(node, e.Call) and node.function in _AGGREGATES and not node.distinct:
            starred = not node.args or isinstance(node.args[0], e.Star)
            if starred:
                return [node.function]
            at = place(node.args[0])
            # Flink's AVG of integers is a quotient of integers; any other AVG is the operator's own.
            average = quotient(node, ["SUM", at], ["COUNT", at]) if node.function == "AVG" else []
            return average if average[3:] == ["BIGINT"] else [node.function, at]
        raise SqlExtError(
            "EMIT-031",
            "a condition of EMIT WHEN is made of COUNT, SUM, AVG, MIN, MAX, numbers, comparisons and arithmetic",
            span=node.span,
            hint="compute what else it needs inside the aggregate, or use CASE for a condition on single rows",
        )

    return json.dumps(plain(condition), separators=(",", ":")), tuple(columns)
