"""The arithmetic of ``numbers`` on whole columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions.casts import arrow_type, narrowed, widened
from sqlext_udfs.expressions.numbers import FLOATS, Policy, calculate, type_name
from sqlext_udfs.expressions.trees import Number
from sqlext_udfs.kernel.arrow_numpy import Values, column_of, numbers
from sqlext_udfs.kernel.groups import Bools

#: Operator -> Arrow's function, and the one that fails where an integer is too large.
_KERNELS: Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "+": (pc.add, pc.add_checked),
    "-": (pc.subtract, pc.subtract_checked),
    "*": (pc.multiply, pc.multiply_checked),
}
_FLOATING: Mapping[str, Callable[..., Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,
}
#: Products of as many digits are exact in Spark too, and the most digits of Arrow's decimals.
_EXACT_PRODUCT, _MOST_DIGITS = 39, 76
_LEAST = np.iinfo(np.int64).min


def arithmetic(op: str, left: pa.Array, right: pa.Array, result: Number, policy: Policy) -> pa.Array:
    """Return ``left op right`` of two columns of numbers, or of two of times as numbers of their unit.

    Raises:
        SqlExtError: RUN-040 for a division by zero, RUN-041 for a number that is too large.
    """
    if result.root in FLOATS:
        return _floating(op, left, right, result, policy)
    if result.root == "DECIMAL":
        return _decimals(op, left, right, result, policy)
    if pa.types.is_decimal(left.type) or pa.types.is_decimal(right.type):
        return _one_by_one(op, left, right, result, policy)
    return _integers(op, left, right, result, policy)


def tried(op: str, left: pa.Array, right: pa.Array, result: Number, policy: Policy) -> pa.Array:
    """Return ``left op right`` as ``arithmetic`` does, and NULL where that fails."""
    try:
        return arithmetic(op, left, right, result, policy)
    except SqlExtError:
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return pa.array([_tried_pair(op, one, other, result, policy) for one, other in pairs], arrow_type(result))


def _tried_pair(op: str, left: object, right: object, result: Number, policy: Policy) -> object:
    try:
        return calculate(op, left, right, result, policy)
    except SqlExtError:
        return None


def negative(column: pa.Array, result: Number, policy: Policy) -> pa.Array:
    """Return ``-x`` of a column of numbers.

    Raises:
        SqlExtError: RUN-041 for the least integer, unless it wraps around.
    """
    if result.root == "DECIMAL":
        return _fitted(pc.negate(widened(column, pa.decimal256(_MOST_DIGITS, _digits(column.type)[1]))), result, policy)
    column = widened(column, arrow_type(result))
    try:
        return (pc.negate if policy.wraps or result.root in FLOATS else pc.negate_checked)(column)
    except pa.ArrowInvalid as error:
        raise policy.too_large(type_name(result)) from error


def _integers(op: str, left: pa.Array, right: pa.Array, result: Number, policy: Policy) -> pa.Array:
    if op not in _KERNELS:
        return narrowed(_divided(op, left, right, result, policy), arrow_type(result), policy)
    kernel = _KERNELS[op][0 if policy.wraps else 1]
    try:
        made = kernel(_longs(left), _longs(right))
    except pa.ArrowInvalid as error:
        raise policy.too_large(type_name(result)) from error
    return narrowed(made, arrow_type(result), policy)


def _longs(column: pa.Array) -> pa.Array:
    return column.view(pa.int64()) if pa.types.is_timestamp(column.type) else column.cast(pa.int64())


def _divided(op: str, left: pa.Array, right: pa.Array, result: Number, policy: Policy) -> pa.Array:
    """Return ``/`` or ``%`` of integers; a quotient is cut towards zero, a remainder has the dividend's sign."""
    there = _both(left, right)
    dividend, divisor = numbers(_longs(left)), numbers(_longs(right))
    if (there & (divisor == 0)).any():
        raise policy.by_zero()
    # The zeros that are left give NULL, as one of their two sides is NULL.
    divisor = np.where(divisor == 0, 1, divisor)
    if op == "/" and not policy.wraps and (there & (dividend == _LEAST) & (divisor == -1)).any():
        raise policy.too_large(type_name(result))
    with np.errstate(all="ignore"):
        rest = np.fmod(dividend, divisor)
        # numpy divides towards minus infinity; without the remainder there is nothing to round.
        values = rest if op == "%" else (dividend - rest) // divisor
    return column_of(values, pa.int64(), there)


def _floating(op: str, left: pa.Array, right: pa.Array, result: Number, policy: Policy) -> pa.Array:
    of = arrow_type(result)
    there = _both(left, right)
    one, other = numbers(widened(left, of)), numbers(widened(right, of))
    if op in "/%" and not policy.wraps and (there & (other == 0)).any():
        raise policy.by_zero()
    with np.errstate(all="ignore"):
        return column_of(_FLOATING[op](one, other), of, there)


def _both(left: pa.Array, right: pa.Array) -> Bools:
    """Return where neither value is NULL."""
    return np.asarray(pc.and_(left.is_valid(), right.is_valid()).to_numpy(zero_copy_only=False))


def _decimals(op: str, left: pa.Array, right: pa.Array, result: Number, policy: Policy) -> pa.Array:
    """Return the exact result, rounded to the scale of its type."""
    if not _is_exact(op, left.type, right.type):
        return _one_by_one(op, left, right, result, policy)
    return _fitted(_KERNELS[op][0](*(c.cast(pa.decimal256(*_digits(c.type))) for c in (left, right))), result, policy)


def _fitted(exact: pa.Array, result: Number, policy: Policy) -> pa.Array:
    rounded = pc.round(exact, result.scale, "half_towards_infinity") if exact.type.scale > result.scale else exact
    fits = pc.less(pc.abs(rounded), pa.scalar(Decimal(10) ** (result.precision - result.scale)))
    if not policy.wraps and pc.all(fits).as_py() is False:
        raise policy.too_large(type_name(result))
    return pc.if_else(fits, rounded, pa.scalar(None, rounded.type)).cast(arrow_type(result))


def _is_exact(op: str, left: pa.DataType, right: pa.DataType) -> bool:
    """Return whether Arrow has enough digits for what Spark computes."""
    (p1, s1), (p2, s2) = _digits(left), _digits(right)
    if op == "*":
        return p1 + p2 <= _EXACT_PRODUCT
    return op in "+-" and max(p1 - s1, p2 - s2) + max(s1, s2) + 1 <= _MOST_DIGITS


def _digits(of: pa.DataType) -> tuple[int, int]:
    return (of.precision, of.scale) if pa.types.is_decimal(of) else (19, 0)


def _one_by_one(op: str, left: pa.Array, right: pa.Array, result: Number, policy: Policy) -> pa.Array:
    pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
    return pa.array([calculate(op, one, other, result, policy) for one, other in pairs], arrow_type(result))
