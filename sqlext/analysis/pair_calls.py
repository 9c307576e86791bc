"""Functions of both sides of a join that the operator computes on pairs of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Protocol

from sqlext.analysis.row_functions import absolute, difference
from sqlext.dialect import expression_nodes as e
from sqlext.errors import SqlExtError
from sqlext.types import LogicalType
from sqlext.udfs.core import match_expressions as core


class Trees(Protocol):
    """Makes trees of the arguments (``pair_trees.PairTrees``)."""

    @property
    def mode(self) -> str:
        """``'spark'`` or ``'flink'``."""

    def tree(self, expr: e.Expr) -> core.Expression:
        """Return an expression as a tree."""

    def compared(self, operator: str, left: e.Expr, right: e.Expr, whole: e.Node) -> core.Expression:
        """Return a comparison."""

    def require_alike(self, whole: e.Node, branches: tuple[e.Expr, ...]) -> None:
        """Check that branches of an expression are values that compare."""

    def number(self, expr: e.Expr) -> core.Number:
        """Return the numeric type of an expression."""

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression."""

    def refused(self, expr: e.Node) -> SqlExtError:
        """Return the error for what the operator cannot compute."""


def call_tree(call: e.Call, trees: Trees) -> core.Expression:
    """Return a call as a tree.

    Raises:
        SqlExtError: JOIN-001 for a function that is not here.
    """
    trees.type_of(call)  # checks how many arguments there are
    rule = _RULES.get(call.function)
    if rule is None or call.registered is not None:
        raise trees.refused(call)
    return rule(call, tuple(a for a in call.args if isinstance(a, e.Expr)), trees)


def _coalesce(call: e.Call, args: tuple[e.Expr, ...], trees: Trees) -> core.Expression:
    trees.require_alike(call, args)
    return core.Coalesce(tuple(map(trees.tree, args)))


def _null_if(call: e.Call, args: tuple[e.Expr, ...], trees: Trees) -> core.Expression:
    value, other = args
    return core.Case((core.When(trees.compared("=", value, other, call), core.Constant(None)),), trees.tree(value))


def _if(call: e.Call, args: tuple[e.Expr, ...], trees: Trees) -> core.Expression:
    condition, then, otherwise = args
    trees.require_alike(call, (then, otherwise))
    return core.Case((core.When(trees.tree(condition), trees.tree(then)),), trees.tree(otherwise))


def _absolute(call: e.Call, args: tuple[e.Expr, ...], trees: Trees) -> core.Expression:
    return absolute(trees.tree(args[0]), trees.number(call))


def _extreme(operator: str) -> Callable[[e.Call, tuple[e.Expr, ...], Trees], core.Expression]:
    """Return GREATEST or LEAST: of a NULL it is NULL in Flink, and in Spark what the others have."""

    def rule(call: e.Call, args: tuple[e.Expr, ...], trees: Trees) -> core.Expression:
        trees.require_alike(call, args)

        def more(one: core.Expression, other: core.Expression) -> core.Expression:
            first: core.Expression = core.Compare(operator, one, other)
            if trees.mode == "flink":
                second = core.Not(first)
                return core.Case((core.When(first, one), core.When(second, other)), core.Constant(None))
            return core.Case((core.When(core.Or((first, core.Is(other, "NULL"))), one),), other)

        return reduce(more, map(trees.tree, args))

    return rule


def _difference(call: e.Call, args: tuple[e.Expr, ...], trees: Trees) -> core.Expression:
    found = difference(call, trees.tree) if all(_is_timestamp(trees.type_of(a)) for a in args[1:]) else None
    if found is None:
        raise trees.refused(call)
    return found


def _is_timestamp(type_: LogicalType | None) -> bool:
    return type_ is not None and type_.is_timestamp


_RULES: Mapping[str, Callable[[e.Call, tuple[e.Expr, ...], Trees], core.Expression]] = {
    "COALESCE": _coalesce,
    "IFNULL": _coalesce,
    "NVL": _coalesce,
    "NULLIF": _null_if,
    "IF": _if,
    "ABS": _absolute,
    "GREATEST": _extreme(">="),
    "LEAST": _extreme("<="),
    "TIMESTAMPDIFF": _difference,
}
