"""Derive the type of a call's result from the types of its arguments."""

from __future__ import annotations

from sqlext.analysis.functions.model import CallTypes, TypeRule
from sqlext.analysis.types.coercion import least_restrictive
from sqlext.types import LogicalType, array, multiset


def unknown(call: CallTypes) -> LogicalType | None:
    """The type is not known."""
    return None


def strict(type_: LogicalType) -> TypeRule:
    """Return a rule: this type, NULL only if an argument may be NULL."""
    nullable, never = type_.as_nullable(), type_.not_null()
    return lambda call: nullable if call.nullable else never


def nullable(type_: LogicalType) -> TypeRule:
    """Return a rule: this type, may always be NULL."""
    result = type_.as_nullable()
    return lambda call: result


def never_null(type_: LogicalType) -> TypeRule:
    """Return a rule: this type, NOT NULL."""
    result = type_.not_null()
    return lambda call: result


def same_as(index: int) -> TypeRule:
    """Return a rule: the type of an argument, NULL if any argument may be NULL."""

    def rule(call: CallTypes) -> LogicalType | None:
        type_ = call.type(index)
        return _with(type_, call.nullable) if type_ else None

    return rule


def nullable_as(index: int) -> TypeRule:
    """Return a rule: the type of an argument, may always be NULL (MAX, FIRST_VALUE)."""

    def rule(call: CallTypes) -> LogicalType | None:
        type_ = call.type(index)
        return type_.as_nullable() if type_ else None

    return rule


def varying(index: int) -> TypeRule:
    """Return a rule: the text type of an argument, CHAR(n) becoming VARCHAR(n) (Calcite's TO_VARYING)."""

    def rule(call: CallTypes) -> LogicalType | None:
        type_ = call.type(index)
        if type_ is None:
            return None
        root = {"CHAR": "VARCHAR", "BINARY": "VARBINARY"}.get(type_.root, type_.root)
        return LogicalType(root, type_.precision, type_.scale, nullable=call.nullable)

    return rule


def common(*, nulls: str = "any") -> TypeRule:
    """Return a rule: the least restrictive type of all arguments.

    Args:
        nulls: ``any``: NULL if any argument may be; ``all``: only if all may be (COALESCE).
    """

    def rule(call: CallTypes) -> LogicalType | None:
        type_ = least_restrictive(call.types, call.mode)
        if type_ is None:
            return None
        some = any if nulls == "any" else all
        return _with(type_, some(t is None or t.nullable for t in call.types))

    return rule


def element_of(index: int) -> TypeRule:
    """Return a rule: the element type of an array argument, may be NULL."""

    def rule(call: CallTypes) -> LogicalType | None:
        type_ = call.type(index)
        if type_ is None or type_.root not in ("ARRAY", "MULTISET"):
            return None
        # NULL for an empty array, though its elements are NOT NULL.
        return type_.children[0].as_nullable()

    return rule


def part_of_map(child: int) -> TypeRule:
    """Return a rule: an array of the keys (0) or values (1) of a map argument."""

    def rule(call: CallTypes) -> LogicalType | None:
        type_ = call.type(0)
        if type_ is None or type_.root != "MAP":
            return None
        return _with(array(type_.children[child]), call.nullable)

    return rule


def array_of(index: int) -> TypeRule:
    """Return a rule: an array of an argument's type, may be NULL (ARRAY_AGG)."""

    def rule(call: CallTypes) -> LogicalType | None:
        type_ = call.type(index)
        return array(type_) if type_ else None

    return rule


def multiset_of(call: CallTypes) -> LogicalType | None:
    """The rule of COLLECT: a multiset of the argument's type, NOT NULL."""
    type_ = call.type(0)
    # Of no rows it is an empty multiset, not NULL.
    return multiset(type_).not_null() if type_ else None


def with_nulls(rule: TypeRule) -> TypeRule:
    """Return a rule whose result may always be NULL."""

    def wrapped(call: CallTypes) -> LogicalType | None:
        type_ = rule(call)
        return type_.as_nullable() if type_ else None

    return wrapped


def _with(type_: LogicalType, is_nullable: bool) -> LogicalType:
    return type_.as_nullable() if is_nullable else type_.not_null()
