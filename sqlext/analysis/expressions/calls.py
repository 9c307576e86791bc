"""Compile the functions that operators compute from several rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sqlext.dialect.ast import expressions as e
from sqlext_udfs.expressions import trees as core

if TYPE_CHECKING:
    from sqlext.analysis.expressions.rows import RowTrees

# Months and years have no fixed length, so TIMESTAMPDIFF by them is left to SQL.
_UNIT_MICROS = {
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}


Rule = Callable[[e.Call, tuple[e.Expr, ...], "RowTrees"], core.Expression]


def call_tree(call: e.Call, trees: RowTrees) -> core.Expression:
    """Return a call as a tree.

    Raises:
        SqlExtError: for a function that is not here (``RowTrees.refused``).
    """
    count, rule = _RULES.get(call.function, (0, None))
    args = tuple(a for a in call.args if isinstance(a, e.Expr))
    if rule is None or call.registered is not None or not args or (count and len(args) != count):
        raise trees.refused(call)
    return rule(call, args, trees)


def _coalesce(call: e.Call, args: tuple[e.Expr, ...], trees: RowTrees) -> core.Expression:
    return core.Coalesce(trees.merged(call, args))


def _null_if(call: e.Call, args: tuple[e.Expr, ...], trees: RowTrees) -> core.Expression:
    value, other = args
    return core.Case((core.When(trees.compared("=", value, other, call), core.Constant(None)),), trees.tree(value))


def _if(call: e.Call, args: tuple[e.Expr, ...], trees: RowTrees) -> core.Expression:
    condition, *results = args
    then, otherwise = trees.merged(call, tuple(results))
    return core.Case((core.When(trees.tree(condition), then),), otherwise)


def _absolute(call: e.Call, args: tuple[e.Expr, ...], trees: RowTrees) -> core.Expression:
    value = trees.tree(args[0])
    less = core.Compare("<", value, core.Constant(0))
    return core.Case((core.When(less, core.Negate(value, trees.number(call))),), value)


def _extreme(op: str) -> Rule:
    """Return GREATEST or LEAST: of a NULL it is NULL in Flink, and in Spark what the others have."""

    def rule(call: e.Call, args: tuple[e.Expr, ...], trees: RowTrees) -> core.Expression:
        return core.Extreme(op, trees.merged(call, args), skips_nulls=trees.mode == "spark")

    return rule


def _difference(call: e.Call, args: tuple[e.Expr, ...], trees: RowTrees) -> core.Expression:
    """Return TIMESTAMPDIFF: timestamps are microseconds to operators."""
    unit, start, end = args
    micros = _UNIT_MICROS.get(unit.word.removesuffix("S")) if isinstance(unit, e.Keyword) else None
    types = [trees.type_of(time) for time in (start, end)]
    if micros is None or not all(t is not None and t.is_timestamp for t in types):
        raise trees.refused(call)
    apart = core.Arithmetic("-", trees.tree(end), trees.tree(start), core.Number("BIGINT"))
    return core.Arithmetic("/", apart, core.Constant(micros), core.Number("BIGINT"))


#: How many arguments a function has (0: one or more), and what it becomes.
_RULES: Mapping[str, tuple[int, Rule]] = {
    "COALESCE": (0, _coalesce),
    "IFNULL": (0, _coalesce),
    "NVL": (0, _coalesce),
    "NULLIF": (2, _null_if),
    "IF": (3, _if),
    "ABS": (1, _absolute),
    "GREATEST": (0, _extreme(">=")),
    "LEAST": (0, _extreme("<=")),
    "TIMESTAMPDIFF": (3, _difference),
}
