"""The arithmetic of SQL on single numbers: results, roundings and refusals, as Spark and as Flink have them."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions.trees import Number

BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
FLOATS = ("FLOAT", "DOUBLE")
#: Holds each sum and each remainder of numbers of 38 digits.
_EXACT = Context(prec=120, rounding=ROUND_HALF_UP)
#: Products and quotients have 39 digits before they are rounded to their type (Spark's ``Decimal.MATH_CONTEXT``).
_DIGITS = Context(prec=39, rounding=ROUND_HALF_UP)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


@dataclass(frozen=True, slots=True)
class Policy:
    """What becomes of numbers for which their type has no value.

    Attributes:
        place: where the expression stands, for messages.
        wraps: Flink's rules: integers wrap around, floating-point numbers are divided by zero, a DECIMAL that is too
            large is NULL. Else these fail (Spark's ANSI mode).
        nan_is_largest: NaN equals itself and is larger than all numbers; else it is as in IEEE 754.
    """

    place: str
    wraps: bool
    nan_is_largest: bool = True

    def by_zero(self) -> SqlExtError:
        """Return RUN-040."""
        return SqlExtError("RUN-040", f"division by zero in {self.place}", hint="NULLIF(x, 0) as divisor gives NULL")

    def too_large(self, of: str, value: object = "a number") -> SqlExtError:
        """Return RUN-041: a type has no such number."""
        return SqlExtError("RUN-041", f"{value} in {self.place} is too large for {of}", hint="CAST to a larger type")


def calculate(op: str, left: Any, right: Any, result: Number, policy: Policy) -> Any:
    """Return ``left op right``; NULL if one of them is.

    Args:
        op: one of ``+ - * / %``.
        left, right: int, float or Decimal.
        result: the type of what comes out.
        policy: where it has no such value.

    Raises:
        SqlExtError: RUN-040 for a division by zero, RUN-041 for a number that is too large.
    """
    if left is None or right is None:
        return None
    if op in "/%" and right == 0 and not (policy.wraps and result.root in FLOATS):
        raise policy.by_zero()
    if result.root in FLOATS:
        return fit(_floating(op, float(left), float(right)), result, policy)
    if result.root == "DECIMAL":
        return fit(_decimal(op, Decimal(left), Decimal(right)), result, policy)
    if isinstance(left, Decimal) or isinstance(right, Decimal):  # DIV
        whole = _EXACT.divide_int(Decimal(left), Decimal(right))
        return fit(int(whole), result, policy)
    return fit(_integer(op, int(left), int(right)), result, policy)


def negate(value: Any, result: Number, policy: Policy) -> Any:
    """Return ``-x``; NULL stays NULL.

    Raises:
        SqlExtError: RUN-041 for the least integer, unless it wraps around.
    """
    if isinstance(value, Decimal):  # ``-`` would round to the digits of Python's context
        value = value.copy_negate()
    elif value is not None:
        value = -float(value) if result.root in FLOATS else -value
    return fit(value, result, policy)


def fit(value: Any, to: Number, policy: Policy) -> Any:
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
        if not rounded:
            # SQL's DECIMAL has no negative zero.
            return rounded.copy_abs()
        if rounded.adjusted() < to.precision - to.scale:
            return rounded
        if policy.wraps:
            return None
        raise policy.too_large(type_name(to), rounded)
    half = 1 << (BITS[to.root] - 1)
    if -half <= value < half:
        return value
    if policy.wraps:
        return (value + half) % (2 * half) - half
    raise policy.too_large(to.root, value)


def type_name(of: Number) -> str:
    """Return how SQL writes a type."""
    return f"DECIMAL({of.precision}, {of.scale})" if of.root == "DECIMAL" else of.root


def compare(op: str, left: Any, right: Any, policy: Policy) -> bool | None:
    """Return whether two values that are not lists compare so; NULL if one of them is, unless ``op`` is ``<=>``."""
    if op == "<=>":
        if left is None or right is None:
            return left is right
        op = "="
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        if policy.nan_is_largest:
            return _COMPARISONS[op](_with_nan(left), _with_nan(right))
    return _COMPARISONS[op](left, right)


def _with_nan(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value)


def _integer(op: str, left: int, right: int) -> int:
    if op in _PLAIN:
        return int(_PLAIN[op](left, right))
    # Java and SQL cut towards zero; ``//`` rounds down.
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient if op == "/" else left - right * quotient


def _decimal(op: str, left: Decimal, right: Decimal) -> Decimal:
    if op == "+":
        return _EXACT.add(left, right)
    if op == "-":
        return _EXACT.subtract(left, right)
    if op == "%":
        return _EXACT.remainder(left, right)
    return _DIGITS.multiply(left, right) if op == "*" else _DIGITS.divide(left, right)


def _floating(op: str, left: float, right: float) -> float:
    if op in _PLAIN:
        return float(_PLAIN[op](left, right))
    if op == "%":
        return math.nan if math.isinf(left) or right == 0 else math.fmod(left, right)
    if right != 0:
        return left / right
    infinite = math.copysign(math.inf, left) * math.copysign(1.0, right)
    return math.nan if left == 0 or math.isnan(left) else infinite


def _single(value: float) -> float:
    try:
        # Python has no FLOAT: four bytes and back round as Java's cast does.
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)
