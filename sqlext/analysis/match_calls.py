"""Calls in DEFINE that combine rows of a match: aggregates so far, and a few functions."""

from __future__ import annotations

from typing import Protocol

from sqlext.analysis.calls import is_aggregate
from sqlext.analysis.match_names import Names
from sqlext.analysis.row_functions import absolute, difference
from sqlext.dialect import expression_nodes as e
from sqlext.errors import SqlExtError
from sqlext.types import LogicalType
from sqlext.udfs.core import match_expressions as core

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
_PAIR, _TRIPLE = 2, 3


class Trees(Protocol):
    """Makes trees of the arguments (``match_definitions.Definition``)."""

    names: Names

    def tree(self, expr: e.Expr) -> core.Expression:
        """Return an expression as a tree."""

    def compared(self, op: str, left: e.Expr, right: e.Expr, whole: e.Node) -> core.Expression:
        """Return a comparison."""

    def value(self, expr: e.Expr, *, absent: bool = False) -> int:
        """Return the number of a value of one row."""

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression."""

    def number(self, expr: e.Expr) -> core.Number:
        """Return the numeric type of an expression."""


def call_tree(call: e.Call, trees: Trees) -> core.Expression:
    """Return a call as a tree.

    Raises:
        SqlExtError: MATCH-012 to MATCH-014 for what the operator does not know.
    """
    if is_aggregate(call, trees.names.scope.mode):
        return _aggregate(call, trees)
    args = [a for a in call.args if isinstance(a, e.Expr)]
    if call.function in ("COALESCE", "IFNULL", "NVL"):
        return core.Coalesce(tuple(trees.tree(a) for a in args))
    if call.function == "NULLIF" and len(args) == _PAIR:
        same = trees.compared("=", args[0], args[1], call)
        return core.Case((core.When(same, core.Constant(None)),), trees.tree(args[0]))
    if call.function == "IF" and len(args) == _TRIPLE:
        return core.Case((core.When(trees.tree(args[0]), trees.tree(args[1])),), trees.tree(args[2]))
    if call.function == "ABS" and len(args) == 1:
        return absolute(trees.tree(args[0]), trees.number(call))
    if call.function == "TIMESTAMPDIFF" and len(args) == _TRIPLE:
        return _difference(call, args, trees)
    raise not_over_rows(call)


def not_over_rows(expr: e.Node) -> SqlExtError:
    """Return MATCH-014: the operator cannot compute this from several rows."""
    shown = expr.span.one_line
    return SqlExtError(
        "MATCH-014",
        f"{shown if len(shown) <= 60 else shown[:57] + '...'} cannot be computed from several rows of a match",
        span=expr.span,
        hint="compute it of one row each and compare: F(A.x) > LAST(F(B.x)); or check it in WHERE over MEASURES",
    )


def _difference(call: e.Call, args: list[e.Expr], trees: Trees) -> core.Expression:
    found = difference(call, trees.tree) if all(_is_timestamp(trees.type_of(time)) for time in args[1:]) else None
    if found is None:
        raise not_over_rows(call)
    return found


def _is_timestamp(type_: LogicalType | None) -> bool:
    return type_ is not None and type_.is_timestamp


def _aggregate(call: e.Call, trees: Trees) -> core.Expression:
    if call.function not in _AGGREGATES or call.distinct or call.filter is not None or len(call.args) > 1:
        raise SqlExtError(
            "MATCH-014",
            f"{call.name} cannot be asked for in DEFINE like this",
            span=call.span,
            hint="DEFINE has COUNT, SUM, AVG, MIN and MAX of the rows so far, without DISTINCT and FILTER",
        )
    of = next((a for a in call.args if isinstance(a, e.Expr) and not isinstance(a, e.Star)), None)
    group = trees.names.only_group(call, call.function)
    if of is None:
        return core.Running("count", None, group)
    if not trees.names.is_single(of):
        raise SqlExtError("MATCH-013", f"{call.function} takes columns of one row", span=of.span)
    value = trees.value(of)
    if call.function in ("COUNT", "MIN", "MAX"):
        return core.Running(call.function.lower(), value, group)
    result = trees.number(call)
    if call.function == "SUM":
        return core.Running("sum", value, group, result)
    total = core.Running("sum", value, group, _exact(trees.type_of(of), result))
    return core.Arithmetic("/", total, core.Running("count", value, group), result)


def _exact(of: LogicalType | None, result: core.Number) -> core.Number:
    """Return the type in which AVG sums up."""
    if of is None or of.is_approximate:
        return core.Number("DOUBLE")
    if of.root == "DECIMAL":
        return core.Number("DECIMAL", 38, of.scale or 0)
    return core.Number("BIGINT" if result.root in ("TINYINT", "SMALLINT", "INT", "BIGINT") else "DOUBLE")
