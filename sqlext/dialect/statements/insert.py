"""Parse INSERT and statement sets.

[EXECUTE] INSERT INTO | OVERWRITE [TABLE] t [hints] [PARTITION (c = v, ..)] [(columns)] query
    [ON CONFLICT DO NOTHING | ERROR | DEDUPLICATE]
[EXECUTE] STATEMENT SET BEGIN insert; .. END      BEGIN STATEMENT SET; insert; .. END
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.statements import Insert, StatementSet
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operands import parenthesised_query
from sqlext.dialect.expressions.operations import parse_expression
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.queries.relations import parse_hints, parse_name, parse_placed_names
from sqlext.dialect.queries.whole import after_query, parse_query
from sqlext.errors import SqlExtError


def parse_insert(cursor: Cursor) -> Insert | None:
    """Read an INSERT; None for Spark's INSERT OVERWRITE DIRECTORY."""
    start = cursor.token.start
    cursor.accept_words("EXECUTE")
    cursor.expect_words("INSERT")
    overwrite = cursor.accept_any("INTO", "OVERWRITE")
    if not overwrite:
        raise cursor.unexpected("INTO or OVERWRITE", "INSERT INTO t SELECT ... adds rows")
    if overwrite == "OVERWRITE" and (cursor.at_words("DIRECTORY") or cursor.at_words("LOCAL", "DIRECTORY")):
        return None
    # INSERT INTO table (a) and INTO table.t have a name; any other TABLE is the optional word.
    if cursor.peek().text != "." and cursor.peek().text != "(":
        cursor.accept_words("TABLE")
    name, name_span = parse_name(cursor)
    hints = parse_hints(cursor)
    partition = _partition(cursor)
    placed = parse_placed_names(cursor) if _at_columns(cursor) else ()
    if cursor.at_words("BY", "NAME"):
        raise unsupported(cursor, "BY NAME", "list the columns: INSERT INTO t (a, b) SELECT ...")
    query = parse_query(cursor)
    on_conflict = _on_conflict(cursor)
    # Here, not only in `choice`: an INSERT of a statement set ends at its own semicolon.
    if not cursor.at_statement_end:
        raise after_query(cursor)
    span = cursor.span_from(start)
    columns, spans = tuple(n for n, _ in placed), tuple(s for _, s in placed)
    return Insert(span, name, name_span, query, overwrite == "OVERWRITE", hints, partition, columns, on_conflict, spans)


def _at_columns(cursor: Cursor) -> bool:
    # (a, b) are columns; (SELECT ..) and ((SELECT ..) UNION ..) are the query.
    return cursor.at_symbol("(") and not parenthesised_query(cursor)


def _partition(cursor: Cursor) -> tuple[tuple[str, Expr], ...]:
    if not cursor.accept_words("PARTITION"):
        return ()
    cursor.expect_symbol("(")
    values: list[tuple[str, Expr]] = []
    while True:
        column = cursor.expect_identifier("a column's name").value
        cursor.expect_symbol("=")
        values.append((column, parse_expression(cursor)))
        if not cursor.accept_symbol(","):
            break
    cursor.expect_symbol(")")
    return tuple(values)


def _on_conflict(cursor: Cursor) -> str | None:
    if not cursor.accept_words("ON", "CONFLICT"):
        return None
    cursor.expect_words("DO")
    action = cursor.accept_any("NOTHING", "ERROR", "DEDUPLICATE")
    if not action:
        raise cursor.unexpected("NOTHING, ERROR or DEDUPLICATE")
    return action


def at_statement_set(cursor: Cursor) -> bool:
    """Whether a statement set begins here."""
    return (
        cursor.at_words("EXECUTE", "STATEMENT", "SET")
        or cursor.at_words("STATEMENT", "SET", "BEGIN")
        or cursor.at_words("BEGIN", "STATEMENT", "SET")
    )


def parse_statement_set(cursor: Cursor) -> StatementSet:
    """Read a statement set in either form, up to its END."""
    start = cursor.token.start
    if cursor.accept_words("BEGIN", "STATEMENT", "SET"):
        cursor.expect_symbol(";")
    else:
        cursor.accept_words("EXECUTE")
        cursor.expect_words("STATEMENT", "SET", "BEGIN")
    inserts: list[Insert] = []
    while not cursor.accept_words("END"):
        if not (cursor.at_words("INSERT") or cursor.at_words("EXECUTE", "INSERT")):
            raise cursor.unexpected("INSERT or END", hint="a statement set holds INSERT statements, each ending with ;")
        insert = parse_insert(cursor)
        if insert is None:
            raise unsupported(cursor, "INSERT OVERWRITE DIRECTORY in a statement set")
        inserts.append(insert)
        cursor.expect_symbol(";")
    if not inserts:
        hint = "EXECUTE STATEMENT SET BEGIN INSERT INTO ...; END"
        raise SqlExtError(
            "PARSE-002", "a statement set needs at least one INSERT", span=cursor.span_from(start), hint=hint
        )
    return StatementSet(cursor.span_from(start), tuple(inserts))
