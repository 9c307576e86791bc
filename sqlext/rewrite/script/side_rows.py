"""Carry late rows, and rows that sources cannot decode, beside the rows of a query.

Two hidden columns have them; both are NULL in the query's own rows. They come out of the same micro-batches. Late rows
come out of the operator that finds them late; rows that cannot be decoded pass none of the query's operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.inserts.bound import BAD_ROWS
from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.dialect.ast.expressions import ColumnRef, Expr
from sqlext.plan.bad_rows import BAD, BAD_COLUMNS, NUMBER
from sqlext.plan.firing import LateRows
from sqlext.plan.nodes import LATE, Scan
from sqlext.quoting import identifier, string
from sqlext.rewrite.expressions.columns import held
from sqlext.rewrite.script.model import SparkScript
from sqlext_catalog.model import Table
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


#: Beside the columns of a source whose bad rows are taken out: whether what was read is a row, not a blank line, say;
#: and ``text``, ``place``, ``reason`` of a bad one, NULL in all others.
IS_ROW, FAULT = "__is_row", "__fault"


def numbered(number: int) -> str:
    """Return what holds for the rows of a batch that one of the tables takes."""
    return f"{BAD}.{NUMBER} = {number}"


def faults_view(view: str) -> str:
    """Return the view of all rows of a source, the bad ones with ``FAULT``."""
    return f"{view}_judged"


def kept_bad(script: SparkScript) -> Fingerprint:
    """Return parts for the tables that keep bad rows: their sources are read twice, and a checkpoint counts sources."""
    if not script.read_again:
        return {}
    views = [source.view for source in script.sources]
    places = sorted(views.index(view) for view in script.read_again)
    twice = ", ".join(script.sources[place].table.name.name for place in places)
    tables = ", ".join(side.table.name.plain for side in script.sides if side.side == BAD_ROWS)
    return {"sources read twice": (twice, repr(places)), "table of bad rows": (tables, tables)}


def beside(script: SparkScript, scans: Sequence[Scan], tables: Sequence[Table], hidden: int) -> SparkScript:
    """Return a script whose query gives the bad rows of scans too, each with the number of its table.

    Args:
        tables: those that take them.
        hidden: how many columns the query has behind its visible ones.
    """
    kinds = ", ".join(f"{c.physical}: {c.type.spark() if c.type else 'STRING'}" for c in BAD_COLUMNS)
    own = f"CAST(NULL AS STRUCT<{NUMBER}: INT, {kinds}>) AS {BAD}"
    empty = "NULL, " * (len(script.outputs) + hidden)
    numbers = {table.name: number for number, table in enumerate(tables)}
    branches = [f"SELECT *, {own} FROM ({script.query})"]
    for scan in scans:
        assert scan.bad is not None
        row = _row(numbers[scan.bad.table.name], scan)
        branches.append(f"SELECT {empty}{row} AS {BAD} FROM {faults_view(scan.view)} WHERE {FAULT} IS NOT NULL")
    return replace(script, query=" UNION ALL ".join(branches), read_again=tuple(scan.view for scan in scans))


def _row(number: int, scan: Scan) -> str:
    fields = {
        NUMBER: str(number),
        "text": f"{FAULT}.text",
        "source": string(scan.table.name.plain),
        "place": f"{FAULT}.place",
        "reason": f"{FAULT}.reason",
        "read_at": "current_timestamp()",
    }
    return f"named_struct({', '.join(f'{string(name)}, {text}' for name, text in fields.items())})"
