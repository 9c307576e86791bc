"""Result types of literals, operators and constructors."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from sqlext.analysis import decimal_rules
from sqlext.analysis.coercion import can_explicitly_cast, comparable, group, least_restrictive, merge_numbers, mixable
from sqlext.dialect import expression_nodes as e
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
    Field,
    LogicalType,
    array,
    decimal,
    map_of,
    row,
)

COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">="})
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV"})
_YEAR_MONTH = frozenset({"YEAR", "QUARTER", "MONTH"})


class Types(Protocol):
    """Gives the types of the operands; ``mode`` is ``'spark'`` or ``'flink'``."""

    mode: str

    def type_of(self, expr: e.Node) -> LogicalType | None:
        """Return the type of an expression, or None."""


# --- literals ---------------------------------------------------------------------------------


def literal_type(expr: e.Literal, types: Types) -> LogicalType | None:
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
        return number_type(expr.value)
    if expr.kind == "STRING":
        return LogicalType("CHAR", len(expr.value)) if mode == "flink" and expr.value else STRING
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


def number_type(text: str) -> LogicalType | None:
    """Return the type of a number as written, None for Spark's suffixed ones (``5L``)."""
    if "e" in text.lower():
        return DOUBLE if text.replace(".", "").replace("-", "").replace("+", "").lower()[-1:].isdigit() else None
    whole, dot, fraction = text.partition(".")
    if not (whole + fraction).isdigit():
        return None
    if dot:
        digits = (whole + fraction).lstrip("0")
        return decimal(max(len(digits), len(fraction), 1), len(fraction))
    value = int(whole)
    if value < 2**31:
        return INT
    return BIGINT if value < 2**63 else decimal(min(len(whole), 38), 0)


def _fraction_digits(text: str) -> int:
    return min(len(text.partition(".")[2].rstrip("Zz ")), 9) if "." in text else 0


def interval_type(expr: e.Interval, types: Types) -> LogicalType | None:
    """Return INTERVAL MONTH or INTERVAL SECOND."""
    kind = INTERVAL_YEAR_MONTH if expr.unit in _YEAR_MONTH else INTERVAL_DAY_TIME
    return kind.not_null()


# --- operators --------------------------------------------------------------------------------


def unary_type(expr: e.Unary, types: Types) -> LogicalType | None:
    """Return the type of ``NOT x`` and ``-x``."""
    operand = types.type_of(expr.operand)
    if expr.op == "NOT":
        _need_boolean(expr, types, operand)
        return _boolean(operand)
    if types.mode == "flink" and operand and expr.op in "+-" and not _signed(operand):
        raise _refused(expr, expr.op, [operand])
    return operand


def binary_type(expr: e.Binary, types: Types) -> LogicalType | None:
    """Return the type of ``left op right``.

    Raises:
        SqlExtError: TYPE-001 if Flink has no such operation for these types (flink mode only).
    """
    left, right = types.type_of(expr.left), types.type_of(expr.right)
    if expr.op in COMPARISONS or expr.op in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM"):
        _check_comparison(expr, types, left, right)
        return BOOLEAN.not_null() if expr.op.startswith("IS") else _boolean(left, right)
    if expr.op in ("AND", "OR"):
        _need_boolean(expr, types, left, right)
        return _boolean(left, right)
    if expr.op == "OVERLAPS":
        return _boolean(left, right)
    if expr.op == "||":
        return _concat(expr, types, left, right)
    if expr.op in ARITHMETIC:
        return _arithmetic(expr, types, left, right)
    return BOOLEAN.not_null() if expr.op == "<=>" else None


def _check_comparison(expr: e.Binary, types: Types, left: LogicalType | None, right: LogicalType | None) -> None:
    if types.mode != "flink" or comparable(left, right):
        return
    if left is None or right is None or (expr.op not in ("=", "<>") and _orderable(left, right)):
        return
    raise _refused(expr, expr.op, [left, right])


def _orderable(left: LogicalType, right: LogicalType) -> bool:
    """Whether two values can be ordered: `s > n` is planned (the string is read as a number), `s = n` is not."""
    return comparable(left, right) or {group(left), group(right)} == {"text", "number"}


def _arithmetic(
    expr: e.Binary, types: Types, left: LogicalType | None, right: LogicalType | None
) -> LogicalType | None:
    if left is None or right is None:
        return None
    result = _temporal(expr.op, left, right)
    if result is None and left.is_numeric and right.is_numeric:
        result = arithmetic_type(expr.op, left, right, types.mode)
    if result is None:
        if types.mode == "flink" and "NULL" not in (left.root, right.root):
            raise _refused(expr, expr.op, [left, right])
        return None
    return replace(result, nullable=left.nullable or right.nullable)


def arithmetic_type(op: str, left: LogicalType, right: LogicalType, mode: str) -> LogicalType | None:
    """Return the type of an operation on two numbers, nullability aside."""
    if left.is_approximate or right.is_approximate:
        if mode == "flink" and op == "%":
            return None
        if mode == "spark" and (op == "/" or left.root != right.root):
            return DOUBLE
        return merge_numbers(left, right)
    if left.is_integer and right.is_integer:
        if mode == "spark" and op in ("/", "DIV"):
            return DOUBLE if op == "/" else BIGINT
        return right if op == "%" and mode == "flink" else merge_numbers(left, right)
    sides = [decimal_rules.as_decimal(t, mode) for t in (left, right)]
    if op == "DIV":
        return BIGINT
    if op == "%" and mode == "flink":
        return right if right.is_integer and left.is_integer else decimal_rules.arithmetic("%", *sides)
    return decimal_rules.arithmetic(op, sides[0], sides[1])


def _temporal(op: str, left: LogicalType, right: LogicalType) -> LogicalType | None:
    if is_interval(left) and is_interval(right) and op in ("+", "-"):
        return left if left.root == right.root else None
    if is_time(left) and is_interval(right) and op in ("+", "-"):
        return left
    if is_interval(left) and is_time(right) and op == "+":
        return right
    if op == "*" and is_interval(left) and right.is_numeric:
        return left
    if op == "*" and left.is_numeric and is_interval(right):
        return right
    return left if op == "/" and is_interval(left) and right.is_numeric else None


def is_interval(type_: LogicalType) -> bool:
    """Whether this is one of the two kinds of interval."""
    return type_.root.startswith("INTERVAL")


def is_time(type_: LogicalType) -> bool:
    """Whether this is DATE, TIME or a timestamp."""
    return type_.is_timestamp or type_.root in ("DATE", "TIME")


def _concat(expr: e.Binary, types: Types, left: LogicalType | None, right: LogicalType | None) -> LogicalType | None:
    if left is None or right is None:
        return None
    kinds = {group(left), group(right)} - {"NULL"}
    if types.mode == "flink" and (len(kinds) > 1 or not kinds <= {"text", "binary", "ARRAY"}):
        raise _refused(expr, "||", [left, right], "CAST the other side to STRING")
    nullable = left.nullable or right.nullable
    if types.mode == "spark" or "text" not in kinds:
        return STRING if kinds == {"text"} else None
    length = min((left.precision or 0) + (right.precision or 0), STRING.precision or 0)
    root = "CHAR" if left.root == right.root == "CHAR" else "VARCHAR"
    return LogicalType(root, length, nullable=nullable)


# --- predicates -------------------------------------------------------------------------------


def between_type(expr: e.Between, types: Types) -> LogicalType | None:
    """Return BOOLEAN, after checking that both bounds compare with the operand."""
    operand, low, high = (types.type_of(x) for x in (expr.operand, expr.low, expr.high))
    for bound in (low, high):
        if types.mode == "flink" and operand and bound and not _orderable(operand, bound):
            raise _refused(expr, "BETWEEN", [operand, bound])
    return _boolean(operand, low, high)


def in_list_type(expr: e.InList, types: Types) -> LogicalType | None:
    """Return BOOLEAN, after checking that the items go together."""
    operand = types.type_of(expr.operand)
    items = [types.type_of(item) for item in expr.items]
    if types.mode == "flink" and not mixable(items):
        raise SqlExtError("TYPE-002", "the values of the IN list have types that do not go together", span=expr.span)
    return _boolean(operand, *items)


def like_type(expr: e.Like, types: Types) -> LogicalType | None:
    """Return BOOLEAN; both sides of LIKE are strings."""
    sides = [types.type_of(expr.operand), types.type_of(expr.pattern)]
    if types.mode == "flink":
        for side in sides:
            if side and side.root != "NULL" and not side.is_text:
                raise _refused(expr, expr.op, [s for s in sides if s])
    return _boolean(*sides)


def is_test_type(expr: e.IsTest, types: Types) -> LogicalType | None:
    """Return BOOLEAN NOT NULL (IS [NOT] JSON of NULL is false in Flink)."""
    operand = types.type_of(expr.operand)
    if expr.test in ("TRUE", "FALSE", "UNKNOWN"):
        _need_boolean(expr, types, operand)
    return BOOLEAN.not_null()


def case_type(expr: e.Case, types: Types) -> LogicalType | None:
    """Return the common type of the branches; NULL if one may be or ELSE is missing."""
    operand = types.type_of(expr.operand) if expr.operand else None
    for when in expr.whens:
        condition = types.type_of(when.condition)
        if expr.operand is None:
            _need_boolean(when.condition, types, condition)
        elif types.mode == "flink" and operand and condition and not comparable(operand, condition):
            raise _refused(when.condition, "=", [operand, condition])
    results = [types.type_of(when.result) for when in expr.whens]
    results.append(types.type_of(expr.otherwise) if expr.otherwise else NULL)
    return branches_type(expr, "CASE", results, types.mode)


#: Functions whose alternatives may mix DATE and TIMESTAMP (CASE may not), measured on Flink 2.3.
_LOOSE = frozenset({"COALESCE", "IFNULL", "GREATEST", "LEAST"})


def _are_times(types: Sequence[LogicalType | None]) -> bool:
    return all(t is None or t.is_timestamp or t.root in ("DATE", "NULL") for t in types)


def branches_type(expr: e.Expr, what: str, results: Sequence[LogicalType | None], mode: str) -> LogicalType | None:
    """Return the common type of alternatives (CASE, IF, COALESCE); TYPE-002 if there is none."""
    if mode == "flink" and not mixable(results) and not (what in _LOOSE and _are_times(results)):
        listed = ", ".join(t.flink() for t in results if t)
        raise SqlExtError(
            "TYPE-002",
            f"the results of {what} have types that do not go together: {listed}",
            span=expr.span,
            hint="CAST them to one type",
        )
    if what in _LOOSE and not mixable(results) and _are_times(results):
        results = [t for t in results if t is None or t.root != "DATE"]
    return least_restrictive(results)


# --- casts and constructors -------------------------------------------------------------------


def cast_type(expr: e.Cast, types: Types) -> LogicalType | None:
    """Return the target type; NULL if the operand may be, always for TRY_CAST."""
    operand = types.type_of(expr.operand)
    if types.mode == "flink" and operand and not can_explicitly_cast(operand, expr.type):
        message = f"a {operand.flink()} cannot be cast to {expr.type.flink()}"
        raise SqlExtError("TYPE-005", message, span=expr.span)
    nullable = expr.try_ or operand is None or operand.nullable or operand.root == "NULL"
    return replace(expr.type, nullable=nullable)


def row_type(expr: e.RowValue, types: Types) -> LogicalType | None:
    """Return ROW<`EXPR$0` ..., `EXPR$1` ...> NOT NULL."""
    items = [types.type_of(item) for item in expr.items]
    if any(t is None for t in items):
        return None
    name = "EXPR$" if types.mode == "flink" else "col"
    first = 0 if types.mode == "flink" else 1
    return row(*(Field(f"{name}{i}", t) for i, t in enumerate(items, first) if t)).not_null()


def array_type(expr: e.ArrayValue, types: Types) -> LogicalType | None:
    """Return ARRAY<common type of the items> NOT NULL."""
    element = branches_type(expr, "ARRAY", [types.type_of(i) for i in expr.items], types.mode)
    return array(element).not_null() if element else None


def map_type(expr: e.MapValue, types: Types) -> LogicalType | None:
    """Return MAP<common type of the keys, of the values> NOT NULL."""
    keys = [types.type_of(i) for i in expr.items[::2]]
    values = [types.type_of(i) for i in expr.items[1::2]]
    key = branches_type(expr, "the keys of MAP", keys, types.mode)
    value = branches_type(expr, "the values of MAP", values, types.mode)
    return map_of(key, value).not_null() if key and value else None


def subscript_type(expr: e.Subscript, types: Types) -> LogicalType | None:
    """Return the element of an array, the value of a map, the field of a row; may be NULL."""
    operand = types.type_of(expr.operand)
    types.type_of(expr.index)
    if operand is None:
        return None
    if operand.root in ("ARRAY", "MAP"):
        return operand.children[-1].as_nullable()
    if operand.root == "VARIANT":
        return operand.as_nullable()
    if types.mode == "flink" and operand.root != "ROW":
        raise _refused(expr, "[]", [operand])
    return None


def field_type(expr: e.FieldAccess, types: Types) -> LogicalType | None:
    """Return the type of a field of a row."""
    operand = types.type_of(expr.operand)
    for field in operand.fields if operand else ():
        if operand and field.name == expr.name:
            return replace(field.type, nullable=field.type.nullable or operand.nullable)
    return None


# --- helpers ----------------------------------------------------------------------------------


def _boolean(*operands: LogicalType | None) -> LogicalType:
    nullable = any(_may_be_unknown(t) for t in operands)
    return BOOLEAN if nullable else BOOLEAN.not_null()


def _may_be_unknown(type_: LogicalType | None) -> bool:
    """Whether a comparison with such a value may be NULL: a row's fields count too."""
    if type_ is None or type_.nullable:
        return True
    return any(_may_be_unknown(f.type) for f in type_.fields)


def _need_boolean(expr: e.Expr, types: Types, *operands: LogicalType | None) -> None:
    if types.mode != "flink":
        return
    for operand in operands:
        if operand and operand.root not in ("BOOLEAN", "NULL"):
            raise SqlExtError("TYPE-003", f"a condition must be BOOLEAN, this is {operand.flink()}", span=expr.span)


def _signed(type_: LogicalType) -> bool:
    return type_.is_numeric or is_interval(type_) or type_.root == "NULL"


def _refused(expr: e.Expr, op: str, operands: Sequence[LogicalType], hint: str | None = None) -> SqlExtError:
    listed = " and ".join(t.flink() for t in operands)
    message = f"cannot apply `{op}` to {listed}"
    return SqlExtError("TYPE-001", message, span=expr.span, hint=hint or "CAST one side to the type of the other")
