"""Functions of several rows as trees that operators evaluate (``match_expressions``)."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.dialect import expression_nodes as e
from sqlext.udfs.core import match_expressions as core

_UNIT_MICROS = {
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}


def absolute(value: core.Expression, result: core.Number) -> core.Expression:
    """Return ABS."""
    less = core.Compare("<", value, core.Constant(0))
    return core.Case((core.When(less, core.Negate(value, result)),), value)


def difference(call: e.Call, tree: Callable[[e.Expr], core.Expression]) -> core.Expression | None:
    """Return TIMESTAMPDIFF, timestamps being microseconds to operators; None for a unit that is no fixed time."""
    unit, start, end = call.args
    micros = _UNIT_MICROS.get(unit.word.removesuffix("S")) if isinstance(unit, e.Keyword) else None
    if micros is None or not isinstance(start, e.Expr) or not isinstance(end, e.Expr):
        return None
    apart = core.Arithmetic("-", tree(end), tree(start), core.Number("BIGINT"))
    return core.Arithmetic("/", apart, core.Constant(micros), core.Number("BIGINT"))
