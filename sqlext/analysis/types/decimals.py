"""Compute precision and scale of decimal results.

The rules are those of Flink's ``LogicalTypeMerging``; Spark's agree for the operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from sqlext.types import LogicalType, decimal

MAX_PRECISION = 38
MIN_SCALE = 6

#: Digits of the integer types, as Flink and Spark see them in decimal arithmetic.
INTEGER_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10}
#: BIGINT has 19 digits in Flink and 20 in Spark.
BIGINT_DIGITS = {"flink": 19, "spark": 20}


def as_decimal(type_: LogicalType, mode: str = "flink") -> LogicalType:
    """Return the DECIMAL that an exact numeric type counts as in arithmetic."""
    if type_.root == "DECIMAL":
        return type_
    digits = BIGINT_DIGITS[mode] if type_.root == "BIGINT" else INTEGER_DIGITS[type_.root]
    return decimal(digits, 0)


def adjust(precision: int, scale: int) -> LogicalType:
    """Return DECIMAL(precision, scale) cut to 38 digits, keeping at least six of the fraction."""
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    # The digits before the point come first: losing some of them changes a number by more than losing its fraction.
    integral = precision - scale
    return decimal(MAX_PRECISION, max(MAX_PRECISION - integral, min(scale, MIN_SCALE)))


def arithmetic(op: str, left: LogicalType, right: LogicalType) -> LogicalType:
    """Return the type of ``left op right`` for two decimals, nullability aside."""
    p1, s1, p2, s2 = _digits(left) + _digits(right)
    if op in ("+", "-"):
        scale = max(s1, s2)
        return adjust(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if op == "*":
        return adjust(p1 + p2 + 1, s1 + s2)
    if op == "/":
        scale = max(MIN_SCALE, s1 + p2 + 1)
        return adjust(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return adjust(min(p1 - s1, p2 - s2) + scale, scale)


def quotient_overflows(left: LogicalType, right: LogicalType, result: LogicalType) -> bool:
    """Whether a quotient of two decimals may have more digits before the point than its type."""
    p1, s1, _, s2 = _digits(left) + _digits(right)
    precision, scale = _digits(result)
    return p1 - s1 + s2 > precision - scale


def common(left: LogicalType, right: LogicalType) -> LogicalType:
    """Return the least DECIMAL that holds both.

    Beyond 38 digits those before the point come first, and none of the fraction is kept for itself. Both engines do so
    (Spark: ``DecimalType.boundedPreferIntegralDigits``; DESCRIBE of Flink 2.3).
    """
    p1, s1, p2, s2 = _digits(left) + _digits(right)
    whole, scale = max(p1 - s1, p2 - s2), max(s1, s2)
    return decimal(min(whole + scale, MAX_PRECISION), min(scale, MAX_PRECISION - whole))


def merged(types: Iterable[LogicalType | None]) -> LogicalType | None:
    """Return the DECIMAL that Spark makes of several exact numbers where it needs one type; None for other types."""
    exact = [t for t in types if t is not None and t.root != "NULL"]
    if not exact or any(t.root not in ("DECIMAL", "BIGINT", *INTEGER_DIGITS) for t in exact):
        return None
    return reduce(common, (as_decimal(t, "spark") for t in exact))


# Flink: LogicalTypeMerging.findRoundDecimalType.
def rounded(type_: LogicalType, digits: int) -> LogicalType:
    """Return the type of ROUND(decimal, digits); rounding may add a digit in front."""
    precision, scale = _digits(type_)
    if digits >= scale:
        return decimal(precision, scale)
    if digits < 0:
        return decimal(min(MAX_PRECISION, 1 + precision - scale), 0)
    return decimal(1 + precision - scale + digits, digits)


# Flink: LogicalTypeMerging.findAvgAggType.
def average(type_: LogicalType) -> LogicalType:
    """Return the type of AVG(decimal)."""
    return decimal(MAX_PRECISION, max(MIN_SCALE, _digits(type_)[1]))


# Flink: LogicalTypeMerging.findSumAggType.
def total(type_: LogicalType) -> LogicalType:
    """Return the type of SUM(decimal)."""
    return decimal(MAX_PRECISION, _digits(type_)[1])


def _digits(type_: LogicalType) -> tuple[int, int]:
    return type_.precision or 10, type_.scale or 0
