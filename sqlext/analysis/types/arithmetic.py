"""Infer the result types of operators and predicates."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.types import decimals
from sqlext.analysis.types.coercion import comparable, group, merge_numbers, mixable
from sqlext.analysis.types.operands import OperandTypes, boolean, need_boolean, refused
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    STRING,
    LogicalType,
    decimal,
)

#: The smallest numbers of their types: without the minus they are too large for them.
_SMALLEST = {"2147483648": INT, "9223372036854775808": BIGINT}
COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">="})
_ORDERS = frozenset({"<", "<=", ">", ">="})
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV"})


def unary_type(expr: e.Unary, types: OperandTypes) -> LogicalType | None:
    """Return the type of ``NOT x`` and ``-x``."""
    operand = types.type_of(expr.operand)
    if expr.op == "NOT":
        need_boolean(types, expr.operand)
        return boolean(operand)
    if expr.op == "-" and isinstance(expr.operand, e.Literal) and expr.operand.value in _SMALLEST:
        return _SMALLEST[expr.operand.value].not_null()
    # Spark casts a text to DOUBLE here; Calcite's unary minus takes numbers and intervals alone.
    if types.mode == "flink" and operand and expr.op in "+-" and not _signed(operand):
        raise refused(expr, expr.op, [operand])
    return operand


def binary_type(expr: e.Binary, types: OperandTypes) -> LogicalType | None:
    """Return the type of ``left op right``.

    Raises:
        SqlExtError: TYPE-001 if Flink has no such operation for these types (flink mode only).
    """
    left, right = types.type_of(expr.left), types.type_of(expr.right)
    if expr.op in COMPARISONS or expr.op in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM"):
        _check_comparison(expr, types, left, right)
        return BOOLEAN.not_null() if expr.op.startswith("IS") else boolean(left, right)
    if expr.op in ("AND", "OR"):
        _need_conditions(expr, types)
        return boolean(left, right)
    if expr.op == "OVERLAPS":
        return boolean(left, right)
    if expr.op == "||":
        return _concat(expr, types, left, right)
    if expr.op in ARITHMETIC:
        return _arithmetic(expr, types, left, right)
    return BOOLEAN.not_null() if expr.op == "<=>" else None


def _need_conditions(expr: e.Binary, types: OperandTypes) -> None:
    """Check the operands of AND and OR (TYPE-003); ``x = 1 OR 2`` is told what it should be."""
    left, right = expr.left, expr.right
    try:
        need_boolean(types, left, right)
    except SqlExtError as error:
        if expr.op == "OR" and isinstance(right, e.Literal) and isinstance(left, e.Binary) and left.op in ("=", "=="):
            listed = ", ".join(x.span.one_line for x in (left.right, right))
            error.hint = f"write {left.left.span.one_line} IN ({listed})"
        raise


def list_comparison_type(expr: e.ListComparison, types: OperandTypes) -> LogicalType | None:
    """Return BOOLEAN, after checking that the operand goes with each value (TYPE-001)."""
    operand, items = types.type_of(expr.operand), [types.type_of(item) for item in expr.items]
    for item in items:
        _check_comparison(expr, types, operand, item)
    return boolean(operand, *items)


def query_comparison_type(expr: e.QueryComparison, types: OperandTypes) -> LogicalType | None:
    """Return BOOLEAN, after checking that the operand goes with the query's values (TYPE-001)."""
    operand, summary = types.type_of(expr.operand), types.type_of(expr.summary)
    _check_comparison(expr, types, operand, summary.fields[0].type if summary and summary.fields else None)
    return BOOLEAN


def _check_comparison(
    expr: e.Binary | e.ListComparison | e.QueryComparison,
    types: OperandTypes,
    left: LogicalType | None,
    right: LogicalType | None,
) -> None:
    if types.mode == "spark":
        if _are(left, right, "number", "timestamp"):
            raise refused(expr, expr.op, [t for t in (left, right) if t is not None])
        return
    if comparable(left, right):
        return
    if left is None or right is None or (expr.op in _ORDERS and _orderable(left, right)):
        return
    raise refused(expr, expr.op, [left, right])


def _are(left: LogicalType | None, right: LogicalType | None, *groups: str) -> bool:
    """Whether two types are of these two groups, in any order."""
    return left is not None and right is not None and {group(left), group(right)} == set(groups)


def _orderable(left: LogicalType, right: LogicalType) -> bool:
    """Whether two values can be ordered: `s > n` is planned (the string is read as a number), `s = n` is not."""
    return comparable(left, right) or {group(left), group(right)} == {"text", "number"}


def _arithmetic(
    expr: e.Binary, types: OperandTypes, left: LogicalType | None, right: LogicalType | None
) -> LogicalType | None:
    if left is None or right is None:
        return None
    result = _temporal(expr.op, left, right)
    if result is None and left.is_numeric and right.is_numeric:
        sides = left, right
        if types.mode == "spark" and "DECIMAL" in (left.root, right.root):
            sides = beside_decimal(expr.left, left), beside_decimal(expr.right, right)
        result = arithmetic_type(expr.op, *sides, types.mode)
    if result is None:
        mixed = _are(left, right, "number", "timestamp") or _are(left, right, "number", "BOOLEAN")
        if mixed or (types.mode == "flink" and "NULL" not in (left.root, right.root)):
            raise refused(expr, expr.op, [left, right])
        return None
    return replace(result, nullable=left.nullable or right.nullable)


def arithmetic_type(op: str, left: LogicalType, right: LogicalType, mode: str) -> LogicalType | None:
    """Return the type of an operation on two numbers, nullability aside."""
    if left.is_approximate or right.is_approximate:
        # Flink's % is MOD, which takes exact numbers alone.
        if mode == "flink" and op == "%":
            return None
        # Spark divides DOUBLEs, and its ANSI coercion makes FLOAT beside another numeric type a DOUBLE.
        if mode == "spark" and (op == "/" or left.root != right.root):
            return DOUBLE
        return merge_numbers(left, right, mode)
    if left.is_integer and right.is_integer:
        if mode == "spark" and op in ("/", "DIV"):
            return DOUBLE if op == "/" else BIGINT
        # Calcite gives MOD the type of its second argument (ReturnTypes.NULLABLE_MOD).
        return right if op == "%" and mode == "flink" else merge_numbers(left, right, mode)
    sides = [decimals.as_decimal(t, mode) for t in (left, right)]
    if op == "DIV":
        return BIGINT
    # Of numbers without a fraction MOD has the type of its second argument, a DECIMAL or not.
    if op == "%" and mode == "flink" and not left.scale and not right.scale:
        return right
    return decimals.arithmetic(op, sides[0], sides[1])


def beside_decimal(expr: e.Expr, type_: LogicalType) -> LogicalType:
    """Return what an operand counts as beside a DECIMAL in Spark: a literal integer has just its own digits.

    Spark: ``DecimalType.fromLiteral``, by ``spark.sql.legacy.literal.pickMinimumPrecision``, which is set by default.
    """
    while isinstance(expr, e.Paren) or (isinstance(expr, e.Unary) and expr.op == "-"):
        expr = expr.operand
    if not isinstance(expr, e.Literal) or not type_.is_integer:
        return type_
    return decimal(len(expr.value.lstrip("0")) or 1, 0)


def _temporal(op: str, left: LogicalType, right: LogicalType) -> LogicalType | None:
    if is_interval(left) and is_interval(right) and op in ("+", "-"):
        # Months and milliseconds have no common unit.
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


def difference_type(expr: e.Difference, types: OperandTypes) -> LogicalType | None:
    """Return INTERVAL MONTH or INTERVAL SECOND, after checking that two times are there.

    Raises:
        SqlExtError: TYPE-001 if one side is no time, or both are of two kinds.
    """
    kind = INTERVAL_YEAR_MONTH if expr.unit in ("YEAR", "MONTH") else INTERVAL_DAY_TIME
    sides = [types.type_of(side) for side in (expr.end, expr.start)]
    if any(side is None for side in sides):
        return kind
    end, start = (side for side in sides if side)
    if not is_time(end) or not is_time(start):
        raise refused(expr, "-", [end, start], "a difference with a unit is of two times")
    if end.root != start.root:
        raise refused(expr, "-", [end, start], "a difference with a unit is of two times of one kind: CAST one of them")
    return replace(kind, nullable=end.nullable or start.nullable)


def is_interval(type_: LogicalType) -> bool:
    """Whether this is one of the two kinds of interval."""
    return type_.root.startswith("INTERVAL")


def is_time(type_: LogicalType) -> bool:
    """Whether this is DATE, TIME or a timestamp."""
    return type_.is_timestamp or type_.root in ("DATE", "TIME")


def _concat(
    expr: e.Binary, types: OperandTypes, left: LogicalType | None, right: LogicalType | None
) -> LogicalType | None:
    if left is None or right is None:
        return None
    kinds = {group(left), group(right)} - {"NULL"}
    if types.mode == "flink" and (len(kinds) > 1 or not kinds <= {"text", "binary", "ARRAY"}):
        raise refused(expr, "||", [left, right], "CAST the other side to STRING")
    nullable = left.nullable or right.nullable
    if types.mode == "spark" or "text" not in kinds:
        return STRING if kinds == {"text"} else None
    # Calcite: the lengths add up (DYADIC_STRING_SUM_PRECISION), and only two CHARs give a CHAR.
    length = min((left.precision or 0) + (right.precision or 0), STRING.precision or 0)
    root = "CHAR" if left.root == right.root == "CHAR" else "VARCHAR"
    return LogicalType(root, length, nullable=nullable)


def between_type(expr: e.Between, types: OperandTypes) -> LogicalType | None:
    """Return BOOLEAN, after checking that both bounds compare with the operand."""
    operand, low, high = (types.type_of(x) for x in (expr.operand, expr.low, expr.high))
    for bound in (low, high):
        if types.mode == "flink" and operand and bound and not _orderable(operand, bound):
            raise refused(expr, "BETWEEN", [operand, bound])
    return boolean(operand, low, high)


def in_list_type(expr: e.InList, types: OperandTypes) -> LogicalType | None:
    """Return BOOLEAN, after checking that the items go together."""
    operand = types.type_of(expr.operand)
    items = [types.type_of(item) for item in expr.items]
    if types.mode == "flink" and not mixable(items):
        raise SqlExtError("TYPE-002", "the values of the IN list have types that do not go together", span=expr.span)
    return boolean(operand, *items)


def like_type(expr: e.Like, types: OperandTypes) -> LogicalType | None:
    """Return BOOLEAN; both sides of LIKE are strings, and ESCAPE is one character."""
    escape = expr.escape
    if isinstance(escape, e.Literal) and escape.kind == "STRING" and len(escape.value) != 1:
        message = f"ESCAPE takes one character, not '{escape.value}'"
        raise SqlExtError("TYPE-006", message, span=escape.span, hint="LIKE '10!%' ESCAPE '!'")
    sides = [types.type_of(expr.operand), types.type_of(expr.pattern)]
    if types.mode == "flink":
        for side in sides:
            if side and side.root != "NULL" and not side.is_text:
                raise refused(expr, expr.op, [s for s in sides if s])
    return boolean(*sides)


def is_test_type(expr: e.IsTest, types: OperandTypes) -> LogicalType | None:
    """Return BOOLEAN NOT NULL (IS [NOT] JSON of NULL is false in Flink)."""
    types.type_of(expr.operand)
    if expr.test in ("TRUE", "FALSE", "UNKNOWN"):
        need_boolean(types, expr.operand)
    return BOOLEAN.not_null()


def _signed(type_: LogicalType) -> bool:
    return type_.is_numeric or is_interval(type_) or type_.root == "NULL"
