"""Translate Spark's functions of numbers to Arrow; ``translation`` has their operators."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from sqlext_udfs.expressions.casts import number_type
from sqlext_udfs.expressions.columns import Apply, Arithmetic, Expression, Literal

Of = Callable[[exp.Expr], Expression]
"""Translates a part of an expression."""

_DOUBLE, _BIGINT = pa.float64(), pa.int64()
_MOST_DIGITS = 38
_DIGITS = {pa.int8(): 3, pa.int16(): 5, pa.int32(): 10, pa.int64(): 19}


def as_decimal(value: Expression) -> Expression | None:
    """Return an integer as the DECIMAL that Spark makes of it beside another one; None for what is no exact number.

    Of an integer that is written it has as many digits as that has, else as many as the type can have.
    """
    if pa.types.is_decimal(value.type):
        return value
    if value.type not in _DIGITS:
        return None
    if not isinstance(value, Literal) or value.value is None:
        return Apply(pa.decimal128(_DIGITS[value.type]), function="cast", inputs=(value,))
    return Literal(pa.decimal128(len(str(abs(value.value)))), value=value.value)


def same_decimals(left: Expression, right: Expression) -> tuple[Expression, Expression] | None:
    """Return two exact numbers, one of them a DECIMAL, as DECIMALs that can be compared; None for others."""
    if not (pa.types.is_decimal(left.type) or pa.types.is_decimal(right.type)):
        return None
    one, other = as_decimal(left), as_decimal(right)
    if one is None or other is None:
        return None
    scale = max(one.type.scale, other.type.scale)
    digits = max(side.type.precision - side.type.scale for side in (one, other)) + scale
    if digits > _MOST_DIGITS:
        return None
    of = pa.decimal128(digits, scale)
    made = (side if side.type == of else Apply(of, function="cast", inputs=(side,)) for side in (one, other))
    first, second = made
    return first, second


def _absolute(of: Of, node: exp.Abs) -> Expression | None:
    value = of(node.this)
    if value.type not in _DIGITS and value.type != _DOUBLE and not pa.types.is_decimal(value.type):
        return None
    return Apply(value.type, function="abs", inputs=(value,), fails=value.type in _DIGITS)


def _negative(of: Of, node: exp.Neg) -> Expression | None:
    value = of(node.this)
    if value.type not in _DIGITS and value.type != _DOUBLE:
        return None
    return Arithmetic(value.type, inputs=(value,), op="-", result=number_type(value.type), fails=value.type in _DIGITS)


def _root(of: Of, node: exp.Sqrt) -> Expression | None:
    value = of(node.this)
    return Apply(_DOUBLE, function="sqrt", inputs=(value,)) if value.type == _DOUBLE else None


def _rounded(function: str) -> Callable[[Of, exp.Func], Expression | None]:
    """Return FLOOR or CEIL of a DOUBLE, which is a BIGINT to Spark."""

    def rule(of: Of, node: exp.Func) -> Expression | None:
        more = any(value for name, value in node.args.items() if name != "this")
        value = of(node.this)
        return Apply(_BIGINT, function=function, inputs=(value,)) if value.type == _DOUBLE and not more else None

    return rule


def _remainder(of: Of, node: exp.Mod) -> Expression | None:
    """Return the remainder of an integer by one above 0 that is written; it has the sign of the first."""
    value, by = of(node.this), of(node.expression)
    known = isinstance(by, Literal) and by.type in _DIGITS and by.value is not None and by.value > 0
    if not known or value.type not in _DIGITS:
        return None
    wider = value.type if value.type.bit_width >= by.type.bit_width else by.type
    if value.type != wider:
        value = Apply(wider, function="cast", inputs=(value,))
    return Apply(wider, function="remainder", inputs=(value, by))


#: What sqlglot makes of a call -> what is made of it; None: it stays Spark's.
NUMBERS: tuple[tuple[type[exp.Expr], Callable[..., Expression | None]], ...] = (
    (exp.Abs, _absolute),
    (exp.Neg, _negative),
    (exp.Sqrt, _root),
    (exp.Floor, _rounded("floor")),
    (exp.Ceil, _rounded("ceil")),
    (exp.Mod, _remainder),
)
