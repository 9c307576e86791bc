"""Infer the types of literals, and give their values: constants for operators, milliseconds for intervals."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal

from sqlext.analysis.types.operands import OperandTypes
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.expressions import Expr, Interval, Paren, Unary
from sqlext.errors import SqlExtError
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    NULL,
    STRING,
    LogicalType,
    decimal,
)
from sqlext_udfs.expressions import trees as core

#: What INTERVAL takes before its unit: a number, or a range such as 1 02:30.
_INTERVAL_VALUE = re.compile(r"[+-]?\s*[0-9.][0-9.:\- ]*")
_MAX_DIGITS = 38
_PLAIN_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_YEAR_MONTH = frozenset({"YEAR", "QUARTER", "MONTH"})
_UNIT_MILLIS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 604_800_000,
}
_UNIT_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")
_FRACTION = r"(\.[0-9]{1,9})?"
#: Of an interval whose unit stands alone. Flink has no MILLISECOND and finer there; these are ours.
_MAY_BE_PARTS = frozenset({"SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND"})
_SIXTY = ":(0?[0-9]|[1-5][0-9])"
_BELOW = {"HOUR": " +(0?[0-9]|1[0-9]|2[0-3])", "MINUTE": _SIXTY, "SECOND": _SIXTY + _FRACTION}


def literal_type(expr: e.Literal, types: OperandTypes) -> LogicalType | None:
    """Return the type of a literal: ``'ab'`` is CHAR(2) in Flink, 1.50 DECIMAL(3, 2), 1e2 DOUBLE."""
    if expr.kind == "NULL":
        return NULL
    type_ = _literal_kind(expr, types.mode)
    return type_.not_null() if type_ else None


def _literal_kind(expr: e.Literal, mode: str) -> LogicalType | None:
    if mode == "flink" and expr.kind in _LITERAL_FORMS and not _is_written_right(expr):
        raise SqlExtError(
            "TYPE-006",
            f"'{expr.value}' is no {expr.kind.replace('_', ' ')}",
            span=expr.span,
            hint=f"write it as {_LITERAL_FORMS[expr.kind]}",
        )
    if expr.kind == "NUMBER":
        if mode == "flink" and not _fits(expr.value):
            message = f"{expr.value} is larger than the types of numbers"
            hint = "CAST('...' AS DECIMAL(38, 0)) takes up to 38 digits"
            raise SqlExtError("TYPE-006", message, span=expr.span, hint=hint)
        return number_type(expr.value, mode)
    if expr.kind == "STRING":
        return LogicalType("CHAR", len(expr.value)) if mode == "flink" else STRING
    if expr.kind == "BINARY":
        return LogicalType("BINARY", len(expr.value) // 2)
    if expr.kind in ("TIMESTAMP", "TIMESTAMP_LTZ", "TIME"):
        return LogicalType(expr.kind, _fraction_digits(expr.value))
    return {"BOOLEAN": BOOLEAN, "DATE": DATE}.get(expr.kind)


#: How Flink wants temporal literals written.
_LITERAL_FORMS = {
    "DATE": "yyyy-MM-dd",
    "TIME": "HH:mm:ss[.fff]",
    "TIMESTAMP": "yyyy-MM-dd HH:mm:ss[.fff]",
    "TIMESTAMP_LTZ": "yyyy-MM-dd HH:mm:ss[.fff]",
}


def _is_written_right(expr: e.Literal) -> bool:
    whole = expr.value.strip().partition(".")[0]
    date, _, clock = whole.partition(" ") if expr.kind.startswith("TIMESTAMP") else (whole, "", whole)
    clock = clock or "00:00:00"
    try:
        if expr.kind != "TIME":
            year, month, day = (int(part) for part in date.split("-"))
            datetime.date(year, month, day)
        if expr.kind != "DATE":
            hour, minute, second = (int(part) for part in clock.split(":"))
            datetime.time(hour, minute, second)
    except ValueError:
        return False
    return True


def _fits(text: str) -> bool:
    """Whether a type has a number: one with an exponent is a DOUBLE, others have 38 digits at most."""
    plain = text.replace("_", "")
    if "e" in plain.lower() and re.fullmatch(r"[0-9.]+[eE][+-]?[0-9]+", plain):
        return math.isfinite(float(plain))
    return sum(c.isdigit() for c in plain) <= _MAX_DIGITS if _PLAIN_NUMBER.fullmatch(plain) else True


def number_type(text: str, mode: str) -> LogicalType | None:
    """Return the type of a number as written, None for Spark's suffixed ones (``5L``)."""
    if "e" in text.lower():
        return DOUBLE if text.replace(".", "").replace("-", "").replace("+", "").lower()[-1:].isdigit() else None
    whole, dot, fraction = text.partition(".")
    if not (whole + fraction).isdigit():
        return None
    if dot:
        # To Spark leading zeros are no digits: 0.05 is DECIMAL(2, 2) there, and DECIMAL(3, 2) in Flink.
        digits = (whole + fraction).lstrip("0") if mode == "spark" else whole + fraction
        return decimal(min(max(len(digits), len(fraction), 1), _MAX_DIGITS), len(fraction))
    value = int(whole)
    if value < 2**31:
        return INT
    return BIGINT if value < 2**63 else decimal(min(len(whole), _MAX_DIGITS), 0)


def _fraction_digits(text: str) -> int:
    return min(len(text.partition(".")[2].rstrip("Zz ")), 9) if "." in text else 0


def interval_type(expr: e.Interval, types: OperandTypes) -> LogicalType | None:
    """Return INTERVAL MONTH or INTERVAL SECOND.

    Raises:
        SqlExtError: TYPE-006 for a value that is no number and no range.
    """
    value = expr.value.strip()
    written = _is_interval(expr, value) if types.mode == "flink" else _INTERVAL_VALUE.fullmatch(value)
    if not written:
        hint = "write INTERVAL '10' MINUTE, INTERVAL '1 02' DAY TO HOUR or INTERVAL '1-6' YEAR TO MONTH"
        what = f"{expr.unit} TO {expr.to_unit}" if expr.to_unit else expr.unit
        raise SqlExtError("TYPE-006", f"'{expr.value}' is no interval of {what}", span=expr.span, hint=hint)
    kind = INTERVAL_YEAR_MONTH if expr.unit in _YEAR_MONTH else INTERVAL_DAY_TIME
    return kind.not_null()


def _is_interval(expr: e.Interval, value: str) -> bool:
    """Whether each unit has one number, and those behind the first are below what makes the unit before them."""
    unit, last = _unit(expr.unit), _unit(expr.to_unit) if expr.to_unit else None
    digits = value.lstrip("+-").strip()
    if last is None:
        whole = rf"[0-9]+{_FRACTION}" if unit in _MAY_BE_PARTS else "[0-9]+"
        return re.fullmatch(whole, digits) is not None
    if (unit, last) == ("YEAR", "MONTH"):
        return re.fullmatch(r"[0-9]+-(0?[0-9]|1[01])", digits) is not None
    if unit not in _UNITS or last not in _UNITS or _UNITS.index(unit) >= _UNITS.index(last):
        return False
    units = _UNITS[_UNITS.index(unit) + 1 : _UNITS.index(last) + 1]
    return re.fullmatch("[0-9]+" + "".join(_BELOW[u] for u in units), digits) is not None


def constant_of(literal: e.Literal) -> core.Constant | None:
    """Return a literal that needs no column, None for those whose value only SQL knows."""
    if literal.kind == "NULL":
        return core.Constant(None)
    if literal.kind == "BOOLEAN":
        return core.Constant(literal.value.upper() == "TRUE")
    if literal.kind == "STRING":
        return core.Constant(literal.value)
    # Suffixes (5L) and exponents change the type of a number, so SQL reads those.
    if literal.kind != "NUMBER" or not _PLAIN_NUMBER.fullmatch(literal.value):
        return None
    if literal.value.isdigit():
        return core.Constant(int(literal.value))
    return core.Constant(literal.value, decimal=True)


def interval_months(expr: Expr) -> int | None:
    """Return the length of a year-month interval literal in months, None if it is no such literal.

    Raises:
        SqlExtError: WINDOW-003 for text that is no interval.
    """
    if isinstance(expr, Paren):
        return interval_months(expr.operand)
    if isinstance(expr, Unary) and expr.op in ("-", "+"):
        inner = interval_months(expr.operand)
        return inner if inner is None or expr.op == "+" else -inner
    if not isinstance(expr, Interval) or _unit(expr.unit) not in _UNIT_MONTHS:
        return None
    value = expr.value.strip()
    try:
        if not expr.to_unit:
            return int(value) * _UNIT_MONTHS[_unit(expr.unit)]
        sign = -1 if value.startswith("-") else 1
        years, months = value.lstrip("+-").split("-")
        if int(months) >= _UNIT_MONTHS["YEAR"]:
            raise ValueError(value)
        return sign * (int(years) * _UNIT_MONTHS["YEAR"] + int(months))
    except ValueError:
        hint = "write INTERVAL '3' MONTH, or INTERVAL '1-6' YEAR TO MONTH"
        raise SqlExtError("WINDOW-003", f"'{expr.value}' is no interval of months", span=expr.span, hint=hint) from None


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
    if unit in _UNIT_MONTHS:
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
        return int(Decimal(value) * _UNIT_MILLIS[unit])
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
    return sign * sum(int(Decimal(f) * _UNIT_MILLIS[u]) for f, u in zip(fields, units, strict=True))
