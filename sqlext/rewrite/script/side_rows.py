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
from sqlext.plan.bad_rows import BAD, FOUND_COLUMNS, LETTER, NUMBER, REPLAYED
from sqlext.plan.columns import PlanColumn
from sqlext.plan.firing import LateRows
from sqlext.plan.nodes import LATE, Scan
from sqlext.quoting import identifier, named, string
from sqlext.rewrite.expressions.columns import held, value
from sqlext.rewrite.script.model import SparkScript
from sqlext.types import LogicalType
from sqlext_catalog.model import Table
from sqlext_udfs.kernel.row_kinds import LATE_ROW

#: What holds for the rows of a batch that are late.
FOUND = f"{LATE} IS NOT NULL"

#: The operator's columns that a late row is made of.
LATE_COLUMNS = ("__row_kind", "__late_row", "__late_watermark")

_FOUND_LATE = f"__row_kind = {LATE_ROW}"
_TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_LTZ")
_MICROS = {
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
}
_MILLIS = 3
_UNNAMED = "CAST(NULL AS STRING)"
_LAST_MILLI = 253_402_300_799_999  # of the year 9999


def row_struct(late: LateRows, zone: str, is_ahead: str) -> str:
    """Return what is kept of a row, as it goes into the operator.

    Args:
        is_ahead: whether it is from the future (SQL).
    """
    if late.letters_of is not None:
        return _letter_struct(late, zone, is_ahead)
    kept = [f"{string(c.name)}, {held(c.source, c.relation)}" for c in late.columns if c.relation is not None]
    return f"named_struct({', '.join(kept) or string('__one') + ', 1'})"


def _letter_struct(late: LateRows, zone: str, is_ahead: str) -> str:
    """Return what a late row that is a dead letter is made of; it comes out in the micro-batch in which it came."""
    known = {
        "text": as_json([(c.name, c.source, c.relation or "") for c in late.columns], zone),
        "source": string(late.letters_of or ""),
        "read_at": "current_timestamp()",
        "ahead": is_ahead,
    }
    return f"named_struct({', '.join(f'{string(name)}, {text}' for name, text in known.items())})"


def or_letter(conditions: list[str]) -> list[str]:
    """Return conditions that hold back no dead letter."""
    return [f"CASE WHEN {BAD} IS NULL THEN {' AND '.join(conditions)} ELSE true END"]


def as_json(columns: Sequence[tuple[str, PlanColumn, str]], zone: str) -> str:
    """Return a row as JSON, given name, column and relation of what it has."""
    row = ", ".join(f"{string(name)}, {value(column, zone, relation)}" for name, column, relation in columns)
    options = {"ignoreNullFields": "false", **(_MICROS if any(_is_fine(c.type) for _, c, _ in columns) else {})}
    return f"to_json(named_struct({row}), map({', '.join(f'{string(k)}, {string(v)}' for k, v in options.items())}))"


def _is_fine(type_: LogicalType | None) -> bool:
    """Whether values of a type may have parts of a millisecond, which Spark's JSON leaves out by itself."""
    if type_ is None:
        return False
    inner = (*type_.children, *(f.type for f in type_.fields))
    return (type_.root in _TIMESTAMPS and (type_.precision or 0) > _MILLIS) or any(map(_is_fine, inner))


def late_letter(step: str) -> tuple[str, ...]:
    """Return the columns of a late row that is a dead letter, by the names of ``FOUND_COLUMNS``.

    Args:
        step: the step that found it late, as EXPLAIN calls it.
    """
    row, met = f"{LATE}.row", f"date_format({LATE}.watermark, 'yyyy-MM-dd HH:mm:ss.SSS')"
    late = f"concat('it came when the watermark was at ', {met})"
    known = {
        "text": f"{row}.text",
        "source": f"{row}.source",
        "place": "CAST(NULL AS STRING)",
        "reason": f"IF({row}.ahead, 'its time is too far ahead of the clock', coalesce({late}, 'it came too late'))",
        "read_at": f"{row}.read_at",
        "cause": f"IF({row}.ahead, 'future', 'late')",
        "code": f"IF({row}.ahead, 'RUN-079', 'RUN-078')",
        "operator": string(step),
        LETTER: _UNNAMED,
    }
    return tuple(named(text, name) for name, text in known.items())


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


#: Beside the columns of a source whose bad rows are taken out: whether what was read is a good row, no blank line, say;
#: and ``text``, ``place``, ``reason`` of a bad one, or one with more behind it, NULL in all others.
IS_ROW, FAULT = "__is_row", "__fault"


#: What a row that is fed back consists of: the name of the dead letter, its code, the number of the replay, the row.
CODE, REPLAY, ROW = "code", "replay", "row"
#: In a fingerprint, before the name of a table: dead letters are fed back into it, of these causes.
REPLAYS = "replays into "


def numbered(number: int) -> str:
    """Return what holds for the rows of a batch that one of the tables takes."""
    return f"{BAD}.{NUMBER} = {number}"


def faults_view(view: str) -> str:
    """Return the view of all rows of a source, the bad ones with ``FAULT``."""
    return f"{view}_judged"


def kept_bad(script: SparkScript) -> Fingerprint:
    """Return parts for the tables that keep bad rows: their sources are read twice, and a checkpoint counts sources."""
    letters = ", ".join(side.table.name.plain for side in script.sides if side.side == BAD_ROWS and side.letters)
    taken: Fingerprint = {"table of dead letters": (letters, letters)} if letters else {}
    if not script.read_again:
        return taken
    views = [source.view for source in script.sources]
    places = sorted(views.index(view) for view in script.read_again)
    twice = ", ".join(script.sources[place].table.name.name for place in places)
    tables = ", ".join(side.table.name.plain for side in script.sides if side.side == BAD_ROWS)
    return {**taken, "sources read twice": (twice, repr(places)), "table of bad rows": (tables, tables)}


def no_letter() -> str:
    """Return the hidden column of a row that is the query's own."""
    kinds = ", ".join(f"{c.physical}: {c.type.spark() if c.type else 'STRING'}" for c in FOUND_COLUMNS)
    return f"CAST(NULL AS STRUCT<{NUMBER}: INT, {kinds}>)"


def beside(
    script: SparkScript, scans: Sequence[Scan], tables: Sequence[Table], hidden: int, *, carried: bool
) -> SparkScript:
    """Return a script whose query gives the bad rows of scans too, each with the number of its table.

    Args:
        tables: those that take them.
        hidden: how many columns the query has behind its visible ones.
        carried: whether ``BAD`` is the last of them already.
    """
    empty = "NULL, " * (len(script.outputs) + hidden - carried)
    numbers = {table.name: number for number, table in enumerate(tables)}
    branches = [script.query if carried else f"SELECT *, {no_letter()} AS {BAD} FROM ({script.query})"]
    for scan in scans:
        assert scan.bad is not None
        row = _row(numbers[scan.bad.table.name], scan)
        branches.append(f"SELECT {empty}{row} AS {BAD} FROM {faults_view(scan.view)} WHERE {FAULT} IS NOT NULL")
    branches += [f"SELECT {empty}{BAD} FROM ({text}) WHERE {BAD} IS NOT NULL" for _, text in script.left]
    again = (*(scan.view for scan in scans), *(view for view, _ in script.left))
    return replace(script, query=" UNION ALL ".join(branches), read_again=again)


def _row(number: int, scan: Scan) -> str:
    source, place = string(scan.table.name.plain), f"{FAULT}.place"
    return _letter(number, f"{FAULT}.text", source, place, f"{FAULT}.reason", "'decode'", "'RUN-066'", "'Scan'")


def with_marks(script: SparkScript, number: int, hidden: int) -> SparkScript:
    """Return a script whose query also says which dead letters are fed back into it.

    Args:
        number: that of the table of dead letters.
        hidden: how many columns the query has behind its visible ones and in front of ``BAD``.
    """
    empty = "NULL, " * (len(script.outputs) + hidden)
    branches = [script.query]
    for replay in script.replays:
        said = f"concat('replay ', {REPLAY})", "'it was fed back'", string(REPLAYED), CODE, "'Scan'", LETTER
        mark = _letter(number, ROW, string(replay.table.name.plain), *said)
        branches.append(f"SELECT {empty}{mark} AS {BAD} FROM {replay.view}")
    return replace(script, query=" UNION ALL ".join(branches))


def fed_back(script: SparkScript) -> Fingerprint:
    """Return parts for the tables into which dead letters are fed back: their folders are sources, too."""
    # The causes are for who asks. They may be others when the query goes on.
    return {f"{REPLAYS}{r.table.name.plain}": (", ".join(r.causes), "1") for r in script.replays}


def expression_letter(why: str, text: str, source: str, operator: str, cause: str) -> str:
    """Return the hidden column of a row for which an expression fails, NULL where none does.

    Args:
        why: the struct of code and reason.
        text: the row (SQL).
        source: the tables that it is of.
    """
    said = f"{why}.reason", string(cause), f"{why}.code", string(operator)
    letter = _letter(0, text, string(source), "CAST(NULL AS STRING)", *said)
    return f"CASE WHEN {why} IS NOT NULL THEN {letter} END"


def refused_letter(source: str) -> str:
    """Return the struct of a row that a sink refused when it was written, of its columns text, code and reason.

    Args:
        source: the tables that it is of.
    """
    return _letter(0, "text", string(source), "CAST(NULL AS STRING)", "reason", "'sink'", "code", "'Sink'")


def _letter(
    number: int,
    text: str,
    source: str,
    place: str,
    reason: str,
    cause: str,
    code: str,
    operator: str,
    letter: str = _UNNAMED,
) -> str:
    """Return the struct of a row that a query cannot use, of SQL texts; see ``FOUND_COLUMNS``."""
    fields = {
        NUMBER: str(number),
        "text": text,
        "source": source,
        "place": place,
        "reason": reason,
        "read_at": "current_timestamp()",
        "cause": cause,
        "code": code,
        "operator": operator,
        LETTER: letter,
    }
    return f"named_struct({', '.join(f'{string(name)}, {text}' for name, text in fields.items())})"
