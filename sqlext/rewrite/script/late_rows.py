"""Carry late rows beside the rows of a query, in a hidden column that is NULL in the query's own rows."""

from __future__ import annotations

from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.plan.firing import LateRows
from sqlext.plan.nodes import LATE
from sqlext.quoting import identifier, string
from sqlext.rewrite.expressions.columns import held
from sqlext_udfs.kernel.row_kinds import LATE_ROW

#: What holds for the rows of a batch that are late.
FOUND = f"{LATE} IS NOT NULL"

#: The operator's columns that a late row is made of.
LATE_COLUMNS = ("__row_kind", "__late_row", "__late_watermark")

_FOUND_LATE = f"__row_kind = {LATE_ROW}"
_LAST_MILLI = 253_402_300_799_999  # of the year 9999


def row_struct(late: LateRows) -> str:
    """Return what is kept of a row, as it goes into the operator."""
    kept = [f"{string(c.name)}, {held(c.source, c.relation)}" for c in late.columns if c.relation is not None]
    return f"named_struct({', '.join(kept) or string('__one') + ', 1'})"


def late_column() -> str:
    """Return the value of the hidden column, from what comes out of the operator."""
    # least() would make of no watermark the greatest one.
    met = f"timestamp_millis(nvl2(__late_watermark, least(__late_watermark, {_LAST_MILLI}), NULL))"
    return f"CASE WHEN {_FOUND_LATE} THEN named_struct('row', __late_row, 'watermark', {met}) END"


def unless_late(text: str, expr: Expr | None = None) -> str:
    """Return an expression that is NULL for late rows, which have nothing that it could be computed from."""
    return text if isinstance(expr, ColumnRef) else f"CASE WHEN {LATE} IS NULL THEN {text} END"


def or_late(conditions: list[str]) -> list[str]:
    """Return conditions that hold back no late row."""
    if not conditions:
        return []
    return [f"CASE WHEN {LATE} IS NULL THEN {' AND '.join(conditions)} ELSE true END"]


def expanded() -> tuple[str, ...]:
    """Return the columns of a late row at the end of the query: the row's own, and the watermark that it met."""
    return (f"{LATE}.row.*", f"{LATE}.watermark AS {identifier('__watermark')}")
