"""Convert interval literals to milliseconds."""

from __future__ import annotations

import re
from decimal import Decimal

from sqlext.dialect.ast.expressions import Expr, Interval, Paren, Unary
from sqlext.errors import SqlExtError

_MILLIS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 604_800_000,
}
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


def interval_millis(expr: Expr) -> int | None:
    """Return the length of a day-time interval literal in milliseconds, None if it is no such literal.

    Raises:
        SqlExtError: WINDOW-002 for month and year intervals, WINDOW-003 for text that is no interval.
    """
    if isinstance(expr, Paren):
        return interval_millis(expr.operand)
    if isinstance(expr, Unary) and expr.op in ("-", "+"):
        inner = interval_millis(expr.operand)
        return inner if inner is None or expr.op == "+" else -inner
    if not isinstance(expr, Interval):
        return None
    unit = _unit(expr.unit)
    if unit in ("MONTH", "YEAR", "QUARTER"):
        raise SqlExtError(
            "WINDOW-002",
            f"{unit} intervals have no fixed length",
            span=expr.span,
            hint="use DAY, HOUR, MINUTE or SECOND",
        )
    value = expr.value.strip()
    try:
        if expr.to_unit:
            return _compound(value, unit, _unit(expr.to_unit))
        return int(Decimal(value) * _MILLIS[unit])
    except (ArithmeticError, KeyError, ValueError):
        raise SqlExtError("WINDOW-003", f"'{expr.value}' {expr.unit} is no interval", span=expr.span) from None


def _unit(unit: str) -> str:
    upper = unit.upper()
    return upper[:-1] if upper.endswith("S") else upper


def _compound(value: str, first: str, last: str) -> int:
    sign = -1 if value.startswith("-") else 1
    fields = re.split(r"[ :]", value.lstrip("+-").strip())
    units = _UNITS[_UNITS.index(first) : _UNITS.index(last) + 1]
    if len(fields) != len(units):
        raise ValueError(value)
    return sign * sum(int(Decimal(f) * _MILLIS[u]) for f, u in zip(fields, units, strict=True))
