"""Say what stands at a place of a document: a column, a table, an EMIT clause, an option, a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlext import meanings
from sqlext.analysis.functions import find, is_spark_function
from sqlext.analysis.windows.table_functions import WINDOW_FUNCTIONS, usage
from sqlext.connectors.completion import option_values
from sqlext.dialect.ast.statements import CreateTable, ResetOption, SetOption
from sqlext.dialect.emit.nodes import EmitClause
from sqlext.dialect.emit.words import in_words
from sqlext.dialect.pieces import ColouredPiece
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn, Time
from sqlext.plan.scope import Found
from sqlext.session.editing.documents import DocumentPlace
from sqlext.session.editing.names import Occurrence
from sqlext.session.editing.steps import ScriptStep
from sqlext.session.introspection.describe import COLUMNS, describe_relation
from sqlext.session.state import SessionState
from sqlext.settings import choices_of
from sqlext_catalog.model import Table

_TIMES = {
    Time.ROWTIME: "It is a time attribute: event time.",
    Time.PROCTIME: "It is a time attribute: processing time.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """What there is to say, in Markdown, of the characters [start, end) of a step."""

    start: int
    end: int
    text: str


def note_at(place: DocumentPlace, named: Sequence[Occurrence]) -> Note | None:
    """Return what there is to say of a place.

    Args:
        named: the names of its step.
    """
    step, at = place.step, place.offset
    piece = next((p for p in step.pieces if p.start <= at < p.end), None)
    # Behind the last letter of a word an editor means the word.
    if piece is None or piece.kind in ("space", "symbol"):
        piece = next((p for p in step.pieces if p.end == at), piece)
    if piece is None or piece.kind in ("space", "comment", "number", "symbol"):
        return None
    texts = (_option, _column, _relation, _function, _emit)
    text = next((found for ask in texts if (found := ask(step, piece, named))), None)
    return Note(piece.start, piece.end, text) if text is not None else None


# Columns


def _column(step: ScriptStep, piece: ColouredPiece, named: Sequence[Occurrence]) -> str | None:
    occurrence = next((o for o in named if o.start == piece.start and o.symbol.kind == "column"), None)
    if occurrence is not None and occurrence.symbol.source is step.source:
        # In a definition: its table says what it is, not the expression that makes it one.
        defined = _defined(step.after.state, step, _plain(piece))
        if defined is not None:
            return defined
    for (start, end), found in step.meanings.items():
        if start <= piece.start and piece.end <= end and _names(piece, found, step.source.text[start:end]):
            return column_text(found.column, step)
    return None


def _names(piece: ColouredPiece, found: Found, reference: str) -> bool:
    """Whether a word of a reference is the column, not its qualifier or a field below it."""
    return _plain(piece).lower() in (found.column.name.lower(), reference.split(".")[-1].strip("`").lower())


def column_text(column: PlanColumn, step: ScriptStep) -> str:
    """Return the type of a column, whether it is a time attribute, and where it ceased to be one."""
    lines = [_code(f"{column.name} {column.type_text()}")]
    if column.time is not None:
        lines.append(_TIMES[column.time])
    elif column.loss is not None:
        where = ""
        if column.loss.span is not None:
            span = column.loss.span
            # A view's text has places of its own.
            inside = "" if span.source.name == step.source.name else f" of {span.source.name}"
            where = f" at `{span.one_line}`{inside}"
        lines.append(f"It stopped being a time attribute{where}: {column.loss.reason}.")
    elif column.type is not None and column.type.is_timestamp:
        lines.append("It is no time attribute.")
    return "\n\n".join(lines)


def _defined(state: SessionState, step: ScriptStep, name: str) -> str | None:
    for checked in step.checked:
        if not isinstance(checked.statement, CreateTable) or checked.found:
            continue
        parts = checked.statement.name
        for row in describe_relation(parts, checked.span, state.catalog, state.environment())[1]:
            if row[0] == name:
                return "\n\n".join([_code(f"{row[0]} {row[1]}"), *_marks(row[1:])])
    return None


def _marks(row: Sequence[object]) -> Iterator[str]:
    _, _, key, extras, watermark = row[:5]
    watermark = watermark and str(watermark).replace("`", "")
    if key:
        yield f"It is in the primary key: {key}."
    if extras:
        yield f"It is no column of the data: {extras}."
    if watermark:
        yield f"It is a time attribute: event time. Its watermark is {watermark}."


# Relations


def _relation(step: ScriptStep, piece: ColouredPiece, named: Sequence[Occurrence]) -> str | None:
    occurrence = next((o for o in named if o.start == piece.start and o.symbol.relation is not None), None)
    if occurrence is None or occurrence.symbol.relation is None:
        return None
    state = (step.after if occurrence.defines else step.before).state
    return relation_text(occurrence.symbol.relation, step, state)


def relation_text(name: tuple[str, ...], step: ScriptStep, state: SessionState) -> str | None:
    """Return the columns of a table or view as DESCRIBE shows them; None for one that is not there."""
    found = state.catalog.lookup(name)
    if found is None:
        return None
    try:
        header, rows = describe_relation(name, step.source.span(0, 0), state.catalog, state.environment())
    except (SqlExtError, RecursionError):
        return None
    kind = "table" if isinstance(found, Table) else "view"
    connector = f" ({found.option('connector')})" if isinstance(found, Table) and found.option("connector") else ""
    lines = [f"{kind} `{'.'.join(name)}`{connector}", "", _row(header or COLUMNS), _row("---" for _ in header)]
    return "\n".join([*lines, *map(_row, rows)])


def _row(values: Iterable[object]) -> str:
    return f"| {' | '.join('' if v is None else str(v).replace('|', '&#124;') for v in values)} |"


# EMIT, options, functions


def _emit(step: ScriptStep, piece: ColouredPiece, named: Sequence[Occurrence]) -> str | None:
    clauses = [
        node
        for checked in step.checked
        if checked.statement is not None
        for node in checked.statement.walk()
        if isinstance(node, EmitClause) and node.span.source is step.source
    ]
    inside = [c for c in clauses if c.span.start <= piece.start < c.span.end]
    return "\n\n".join(in_words(inside[-1])) if inside else None


def _option(step: ScriptStep, piece: ColouredPiece, named: Sequence[Occurrence]) -> str | None:
    if piece.kind != "string":
        return None
    is_set = any(isinstance(c.statement, SetOption | ResetOption) for c in step.checked)
    return option_text(piece.text[1:-1], is_setting=is_set)


def option_text(key: str, *, is_setting: bool = False) -> str | None:
    """Return what an option does and the values that it takes, None for one that is not known."""
    of_key = meanings.of_setting if is_setting else meanings.of_table_option
    text, values = of_key(key), choices_of(key) if is_setting else option_values(key, {})
    if text is None:
        return None
    return "\n\n".join([_code(f"'{key}'"), text, *([f"Values: {', '.join(values)}."] if values else [])])


def _function(step: ScriptStep, piece: ColouredPiece, named: Sequence[Occurrence]) -> str | None:
    following = step.source.text[piece.end : piece.end + 1]
    return function_text(piece.text) if piece.kind == "function" or following == "(" else None


def function_text(name: str) -> str | None:
    """Return the forms of a call, None for a function that is not known."""
    forms = call_forms(name)
    if forms:
        return _code("\n".join(forms))
    return "A function of Spark." if is_spark_function(name) else None


def call_forms(name: str) -> list[str]:
    """Return how a function is called; none for one that Spark alone knows."""
    upper = name.upper()
    if upper in WINDOW_FUNCTIONS:
        return [usage(upper)]
    function = find(upper)
    return [f"{upper}({signature})" for signature in function.signatures] if function is not None else []


def _code(text: str) -> str:
    return f"```sql\n{text}\n```"


def _plain(piece: ColouredPiece) -> str:
    return piece.text.strip("`").replace("``", "`")
