"""Infer the types of CASE, casts, rows, arrays and maps, and of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.types.coercion import can_explicitly_cast, comparable, least_restrictive, mixable
from sqlext.analysis.types.operands import OperandTypes, need_condition, refused
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.types import INT, NULL, Field, LogicalType, array, map_of, row


def case_type(expr: e.Case, types: OperandTypes) -> LogicalType | None:
    """Return the common type of the branches; NULL if one may be or ELSE is missing."""
    operand = types.type_of(expr.operand) if expr.operand else None
    for when in expr.whens:
        condition = types.type_of(when.condition)
        if expr.operand is None:
            need_condition(when.condition, condition)
        elif types.mode == "flink" and operand and condition and not comparable(operand, condition):
            raise refused(when.condition, "=", [operand, condition])
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
        # The dates are cast to the timestamps' type, so they have no say in it.
        results = [t for t in results if t is None or t.root != "DATE"]
    return least_restrictive(results, mode)


def cast_type(expr: e.Cast, types: OperandTypes) -> LogicalType | None:
    """Return the target type; NULL if the operand may be, always for TRY_CAST."""
    operand = types.type_of(expr.operand)
    if types.mode == "flink" and operand and not can_explicitly_cast(operand, expr.type):
        message = f"a {operand.flink()} cannot be cast to {expr.type.flink()}"
        raise SqlExtError("TYPE-005", message, span=expr.span)
    nullable = expr.try_ or operand is None or operand.nullable or operand.root == "NULL"
    return replace(expr.type, nullable=nullable)


def row_type(expr: e.RowValue, types: OperandTypes) -> LogicalType | None:
    """Return ROW<`EXPR$0` ..., `EXPR$1` ...> NOT NULL."""
    items = [types.type_of(item) for item in expr.items]
    if any(t is None for t in items):
        return None
    # Calcite counts unnamed fields from EXPR$0, Spark from col1.
    name = "EXPR$" if types.mode == "flink" else "col"
    first = 0 if types.mode == "flink" else 1
    return row(*(Field(f"{name}{i}", t) for i, t in enumerate(items, first) if t)).not_null()


def array_type(expr: e.ArrayValue, types: OperandTypes) -> LogicalType | None:
    """Return ARRAY<common type of the items> NOT NULL."""
    if not expr.items and types.mode == "flink":
        raise SqlExtError("FUNC-002", "ARRAY takes at least one item", span=expr.span, hint="ARRAY[1, 2]")
    element = branches_type(expr, "ARRAY", [types.type_of(i) for i in expr.items], types.mode)
    return array(element).not_null() if element else None


def map_type(expr: e.MapValue, types: OperandTypes) -> LogicalType | None:
    """Return MAP<common type of the keys, of the values> NOT NULL."""
    if len(expr.items) % 2:
        message = "MAP takes pairs of a key and a value"
        raise SqlExtError("FUNC-002", message, span=expr.span, hint="MAP['a', 1, 'b', 2]")
    keys = [types.type_of(i) for i in expr.items[::2]]
    values = [types.type_of(i) for i in expr.items[1::2]]
    key = branches_type(expr, "the keys of MAP", keys, types.mode)
    value = branches_type(expr, "the values of MAP", values, types.mode)
    return map_of(key, value).not_null() if key and value else None


def subscript_type(expr: e.Subscript, types: OperandTypes) -> LogicalType | None:
    """Return the element of an array, the value of a map, the field of a row; may be NULL."""
    operand, index = types.type_of(expr.operand), types.type_of(expr.index)
    if operand is None:
        return None
    if types.mode == "flink" and index is not None and operand.root in ("ARRAY", "MAP"):
        key = operand.children[0] if operand.root == "MAP" else INT
        # An index is a whole number, and the key of a map is compared with one of its type.
        if not comparable(key, index) or (operand.root == "ARRAY" and not (index.is_integer or index.root == "NULL")):
            raise refused(expr, "[]", [operand, index])
    if operand.root in ("ARRAY", "MAP"):
        return operand.children[-1].as_nullable()
    if operand.root == "VARIANT":
        return operand.as_nullable()
    if types.mode == "flink" and operand.root != "ROW":
        raise refused(expr, "[]", [operand])
    return None


def field_type(expr: e.FieldAccess, types: OperandTypes) -> LogicalType | None:
    """Return the type of a field of a row; NAME-005 if it has none of that name."""
    operand = types.type_of(expr.operand)
    if operand is None or operand.root != "ROW":
        return None
    folds = types.mode == "spark"
    for field in operand.fields:
        if field.name == expr.name or (folds and field.name.lower() == expr.name.lower()):
            return replace(field.type, nullable=field.type.nullable or operand.nullable)
    names = [f.name for f in operand.fields]
    message = f"`{expr.operand.span.one_line}` has no field `{expr.name}`"
    hint = did_you_mean(expr.name, names) or f"its fields are {', '.join(names)}"
    raise SqlExtError("NAME-005", message, span=expr.span, hint=hint)
