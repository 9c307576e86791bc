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


def need_boolean(expr: e.Expr, types: OperandTypes, *operands: LogicalType | None) -> None:
    """Check that conditions are BOOLEAN, in flink mode; Spark casts a text within an expression.

    Raises:
        SqlExtError: TYPE-003.
    """
    if types.mode != "flink":
        return
    for operand in operands:
        if operand and operand.root not in ("BOOLEAN", "NULL"):
            raise _no_condition(expr, operand)


def need_condition(expr: e.Expr, type_: LogicalType | None) -> None:
    """Check that what decides on rows is BOOLEAN; Spark refuses other types too.

    Raises:
        SqlExtError: TYPE-003.
    """
    if type_ is not None and type_.root not in ("BOOLEAN", "NULL"):
        raise _no_condition(expr, type_)


def _no_condition(expr: e.Expr, type_: LogicalType) -> SqlExtError:
    hint = f"compare it, for instance {expr.span.one_line} IS NOT NULL"
    return SqlExtError("TYPE-003", f"a condition must be BOOLEAN, this is {type_.flink()}", span=expr.span, hint=hint)


def refused(expr: e.Expr, op: str, operands: Sequence[LogicalType], hint: str | None = None) -> SqlExtError:
    """Return TYPE-001: an operator has no meaning for operands of these types."""
    listed = " and ".join(t.flink() for t in operands)
    message = f"cannot apply `{op}` to {listed}"
    return SqlExtError("TYPE-001", message, span=expr.span, hint=hint or "CAST one side to the type of the other")
