"""Read from a condition which values a row has that it asks for: those of columns that must equal a literal."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.dialect.ast.expressions import Binary, ColumnRef, Expr, Literal, Paren


def wanted_values(condition: Expr | None, schema: pa.Schema, zone: str) -> dict[str, pa.Scalar]:
    """Return the values that a condition asks for, as scalars of the columns' types.

    Args:
        condition: of WHERE.
        schema: the columns of the table.
        zone: whose wall clock a TIMESTAMP literal of an instant is.
    """
    found = {}
    for column, literal in _equalities(condition):
        name = column.parts[-1]
        if name in schema.names:
            try:
                found[name] = _scalar(literal, schema.field(name).type, zone)
            except pa.ArrowException:  # a literal that only SQL reads
                continue
    return found


def _equalities(condition: Expr | None) -> Iterator[tuple[ColumnRef, Literal]]:
    """Yield what must be equal, of conditions that are joined by AND."""
    if isinstance(condition, Paren):
        yield from _equalities(condition.operand)
    elif isinstance(condition, Binary) and condition.op == "AND":
        yield from _equalities(condition.left)
        yield from _equalities(condition.right)
    elif isinstance(condition, Binary) and condition.op == "=":
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(one, ColumnRef) and isinstance(other, Literal):
                yield one, other


def _scalar(literal: Literal, of: pa.DataType, zone: str) -> pa.Scalar:
    text = pa.scalar(literal.value)
    if pa.types.is_timestamp(of) and of.tz is not None:
        return pc.assume_timezone(text.cast(pa.timestamp("us")), zone).cast(of)
    return text.cast(of)
