"""Say what numbers are to Spark, and translate its functions of them to Arrow; ``translation`` has the operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from sqlext.rewrite.arrow.parts import Of
from sqlext_udfs.expressions.casts import number_type
from sqlext_udfs.expressions.columns import Apply, Arithmetic, Expression, Literal

INTEGERS, FLOATS = (pa.int8(), pa.int16(), pa.int32(), pa.int64()), (pa.float32(), pa.float64())
_DOUBLE, _BIGINT = pa.float64(), pa.int64()
_MOST_DIGITS = 38
_DIGITS = dict(zip(INTEGERS, (3, 5, 10, 19), strict=True))
_POINTED = re.compile(r"\d*\.\d+|\d+\.\d*")


def decimal_literal(text: str) -> Expression | None:
    """Return a number with a point, which to Spark is a DECIMAL."""
    if not _POINTED.fullmatch(text):
        return None
    whole, _, fraction = text.partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    return Literal(pa.decimal128(max(digits, 1), len(fraction)), value=Decimal(text))


def exact(op: str, left: Expression, right: Expression) -> Expression | None:
    """Return an operation on two DECIMALs whose result has all its digits (Spark's ``DecimalPrecision``)."""
    if not any(pa.types.is_decimal(side.type) for side in (left, right)):
        return None
    one, other = as_decimal(left), as_decimal(right)
    if one is None or other is None:
        return None
    (p1, s1), (p2, s2) = ((side.type.precision, side.type.scale) for side in (one, other))
    scale = s1 + s2 if op == "*" else max(s1, s2)
    digits = (p1 + p2 if op == "*" else max(p1 - s1, p2 - s2) + scale) + 1
    if digits > _MOST_DIGITS:
        return None
    of = pa.decimal128(digits, scale)
    return Arithmetic(of, inputs=(one, other), op=op, result=number_type(of))


def decimal_type(to: exp.DataType) -> pa.DataType | None:
    """Return a DECIMAL whose digits are written, None for another type."""
    if to.this.name != "DECIMAL" or len(to.expressions) != 2:
        return None
    return pa.decimal128(*(int(part.this.this) for part in to.expressions))


def holds(decimal: pa.DataType, of: pa.DataType) -> bool:
    """Return whether a DECIMAL has each value of another exact type."""
    if not (pa.types.is_decimal(of) or of in INTEGERS):
        return False
    source = number_type(of)
    digits, scale = (source.precision, source.scale) if source.root == "DECIMAL" else (_DIGITS[of], 0)
    return bool(decimal.scale >= scale and decimal.precision - decimal.scale >= digits - scale)


def as_doubles(one: Expression, other: Expression) -> tuple[Expression, Expression]:
    """Return two sides, a DECIMAL that is written beside a DOUBLE as one too: so Spark computes with them."""
    if pa.float64() not in (one.type, other.type):
        return one, other
    left, right = (
        Literal(pa.float64(), value=None if s.value is None else float(s.value))
        if isinstance(s, Literal) and pa.types.is_decimal(s.type)
        else s
        for s in (one, other)
    )
    return left, right


def widest(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the type of an operation on two numbers, None for what are no integers or floating-point numbers."""
    for order in (INTEGERS, FLOATS):
        if one in order and other in order:
            return order[max(order.index(one), order.index(other))]
    # An integer beside a FLOAT is FLOAT or DOUBLE to Spark, as ANSI mode says. DOUBLE is DOUBLE either way.
    numbers = (*INTEGERS, *FLOATS)
    return pa.float64() if one in numbers and other in numbers and pa.float64() in (one, other) else None


def common_type(values: Iterable[Expression]) -> pa.DataType | None:
    """Return the type that Spark gives values of CASE, IF, COALESCE and their like; None where only Spark knows.

    A NULL without a type takes any. Of integers, and of integers beside a DOUBLE, it is the widest.
    """
    found: pa.DataType | None = None
    for of in dict.fromkeys(v.type for v in values if not pa.types.is_null(v.type)):
        found = of if found is None else widest(found, of)
        if found is None:
            return None
    return found


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
    if isinstance(value, Literal) and isinstance(value.value, (int, Decimal)):
        return Literal(value.type, value=-value.value)
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
