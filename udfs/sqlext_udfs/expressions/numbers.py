"""Arithmetic on rows of a match, as SQL has it, on Python's numbers."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions.trees import Number

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_EXACT = Context(prec=100, rounding=ROUND_HALF_UP)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def calculate(op: str, left: Any, right: Any, result: Number, *, wraps: bool) -> Any:
    """Return ``left op right``; NULL if one of them is.

    Args:
        op: one of ``+ - * / %``.
        left, right: int, float or Decimal.
        result: the type of what comes out.
        wraps: Flink's rules: integers wrap around, floating-point numbers are divided by zero, a DECIMAL that is too
            large is NULL. Else these fail.

    Raises:
        SqlExtError: RUN-040 for a division by zero, RUN-041 for a number that is too large.
    """
    if left is None or right is None:
        return None
    if result.root in ("FLOAT", "DOUBLE"):
        return fit(_floating(op, float(left), float(right), wraps=wraps), result, wraps=wraps)
    if result.root == "DECIMAL":
        return fit(_decimal(op, Decimal(left), Decimal(right)), result, wraps=wraps)
    return fit(_integer(op, int(left), int(right)), result, wraps=wraps)


def fit(value: Any, to: Number, *, wraps: bool) -> Any:
    """Return a number as one of a type: rounded, cut or refused. NULL stays NULL.

    Raises:
        SqlExtError: RUN-041 for a number that is too large, unless it wraps.
    """
    if value is None:
        return None
    if to.root == "DOUBLE":
        return float(value)
    if to.root == "FLOAT":
        return _single(float(value))
    if to.root == "DECIMAL":
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-to.scale), context=_EXACT)
        if rounded.adjusted() < to.precision - to.scale or not rounded:
            return rounded
        return None if wraps else _too_large(rounded, to)
    bits = _BITS[to.root]
    half = 1 << (bits - 1)
    if -half <= value < half:
        return value
    return (value + half) % (1 << bits) - half if wraps else _too_large(value, to)


def compare(op: str, left: Any, right: Any, *, nan_is_largest: bool) -> bool | None:
    """Return whether two values that are not lists compare so; NULL if one of them is, unless ``op`` is ``<=>``."""
    if op == "<=>":
        if left is None or right is None:
            return left is right
        op = "="
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        if nan_is_largest:
            return _COMPARISONS[op](_with_nan(left), _with_nan(right))
    return _COMPARISONS[op](left, right)


def _with_nan(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value)


def _integer(op: str, left: int, right: int) -> int:
    if op in "+-*":
        return int(_PLAIN[op](left, right))
    if right == 0:
        raise _by_zero()
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient if op == "/" else left - right * quotient


def _decimal(op: str, left: Decimal, right: Decimal) -> Decimal:
    if op == "+":
        return _EXACT.add(left, right)
    if op == "-":
        return _EXACT.subtract(left, right)
    if op == "*":
        return _EXACT.multiply(left, right)
    if not right:
        raise _by_zero()
    return _EXACT.divide(left, right) if op == "/" else _EXACT.remainder(left, right)


def _floating(op: str, left: float, right: float, *, wraps: bool) -> float:
    if op in "+-*":
        return float(_PLAIN[op](left, right))
    if right == 0:
        if not wraps:
            raise _by_zero()
        if op == "%" or left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    if op == "/":
        return left / right
    return math.nan if math.isinf(left) else math.fmod(left, right)


def _single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _by_zero() -> SqlExtError:
    return SqlExtError("RUN-040", "division by zero in DEFINE", hint="NULLIF(x, 0) as divisor gives NULL")


def _too_large(value: object, to: Number) -> None:
    name = f"DECIMAL({to.precision}, {to.scale})" if to.root == "DECIMAL" else to.root
    raise SqlExtError("RUN-041", f"{value} in DEFINE is too large for {name}", hint="CAST to a larger type")


_PLAIN: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
