"""Share type rules between literals, operators and constructors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.types import BOOLEAN, LogicalType


class OperandTypes(Protocol):
    """Gives the types of the operands; ``mode`` is ``'spark'`` or ``'flink'``."""

    mode: str

    def type_of(self, expr: e.Node) -> LogicalType | None:
        """Return the type of an expression, or None."""


def boolean(*operands: LogicalType | None) -> LogicalType:
    """Return BOOLEAN, NOT NULL if no operand can make the result unknown."""
    nullable = any(_may_be_unknown(t) for t in operands)
    return BOOLEAN if nullable else BOOLEAN.not_null()


def _may_be_unknown(type_: LogicalType | None) -> bool:
    """Whether a comparison with such a value may be NULL: a row's fields count too."""
    if type_ is None or type_.nullable:
        return True
    # (1, NULL) = (1, 2) is unknown although neither row is NULL.
    return any(_may_be_unknown(f.type) for f in type_.fields)


def need_boolean(types: OperandTypes, *operands: e.Expr) -> None:
    """Check that operands of logic are BOOLEAN; Spark casts a text there.

    Raises:
        SqlExtError: TYPE-003.
    """
    for operand in operands:
        type_ = types.type_of(operand)
        if types.mode == "flink" or (type_ is not None and not type_.is_text):
            need_condition(operand, type_)


def need_condition(expr: e.Expr, type_: LogicalType | None) -> None:
    """Check that a condition is BOOLEAN; Spark casts nothing here.

    Raises:
        SqlExtError: TYPE-003.
    """
    if type_ is not None and type_.root not in ("BOOLEAN", "NULL"):
        message = f"a condition must be BOOLEAN, this is {type_.flink()}"
        raise SqlExtError("TYPE-003", message, span=expr.span, hint=_comparison(expr, type_))


def _comparison(expr: e.Expr, type_: LogicalType) -> str:
    """Return a hint: a condition that a value can stand in."""
    text = expr.span.one_line
    if isinstance(expr, e.Literal):
        return f"name what is compared with it, as in x = {text}, or x IN (..., {text})"
    if type_.is_numeric:
        return f"compare it, for instance {text} <> 0"
    if type_.is_text:
        return f"compare it, for instance {text} = 'true'"
    return f"compare it, for instance {text} IS NOT NULL"


def refused(expr: e.Expr, op: str, operands: Sequence[LogicalType], hint: str | None = None) -> SqlExtError:
    """Return TYPE-001: an operator has no meaning for operands of these types."""
    listed = " and ".join(t.flink() for t in operands)
    message = f"cannot apply `{op}` to {listed}"
    return SqlExtError("TYPE-001", message, span=expr.span, hint=hint or _conversion(expr, operands))


def _conversion(expr: e.Expr, operands: Sequence[LogicalType]) -> str:
    """Return a hint how to bring two sides together."""
    sides = (expr.left, expr.right) if isinstance(expr, e.Binary) and len(operands) > 1 else ()
    given = list(zip(sides, operands, strict=False))
    for (one, type_), (other, beside) in zip(given, reversed(given), strict=True):
        text = one.span.one_line
        if type_.is_text and not beside.is_text:
            return f"write CAST({text} AS {beside.flink()})"
        if type_.is_numeric and beside.is_timestamp and isinstance(expr, e.Binary) and expr.op in ("+", "-"):
            count = text if type_.is_integer else f"CAST({text} AS INT)"
            sign = "-" if expr.op == "-" else ""
            return f"write TIMESTAMPADD(SECOND, {sign}{count}, {other.span.one_line}), or add an INTERVAL"
    return "CAST one side to the type of the other"
