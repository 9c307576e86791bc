"""Where an EMIT clause stands: its text is cut out here and read by the parser of the clause."""

from __future__ import annotations

from sqlext.dialect.keywords import at_emit
from sqlext.dialect.literals import UNITS
from sqlext.dialect.tokens import Cursor, Kind
from sqlext.errors import SqlExtError
from sqlext.source import Span

_AFTER_IT = ("GROUP", "ORDER", "HAVING", "WHERE", "QUALIFY", "FROM")
_SHORT_UNITS = ("MS", "S", "M", "H", "D", "W")


def parse_emit_span(cursor: Cursor) -> Span | None:
    """Move past an EMIT clause and return its place, EMIT included; None if none begins here."""
    if cursor.token.upper != "EMIT":
        return None
    if not at_emit(cursor):
        raise _no_clause(cursor)
    start = cursor.advance().start
    depth = 0
    while not cursor.at_statement_end:
        token = cursor.token
        if token.kind is Kind.SYMBOL:
            depth += (token.text == "(") - (token.text == ")")
            if depth < 0:
                break
        elif not depth and token.upper and _ends(cursor, token.upper):
            break
        cursor.advance()
    return cursor.span_from(start)


def _ends(cursor: Cursor, word: str) -> bool:
    """Whether a word of the clause's own level ends it."""
    following = cursor.peek().upper
    if word in ("LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS"):
        return True
    if word == "FETCH":
        return following in ("FIRST", "NEXT")
    if word == "OFFSET":  # ALIGNED TO 1 MINUTE OFFSET 15 SECONDS belongs to the clause
        return not (following == "INTERVAL" or cursor.peek(2).upper in (*UNITS, *_SHORT_UNITS))
    if word == "ON":
        return following == "CONFLICT"
    if word in _AFTER_IT and (word not in ("GROUP", "ORDER") or following == "BY"):
        what = f"{word} BY" if following == "BY" else word
        cursor.fail(
            "EMIT-023",
            f"{what} comes after EMIT; EMIT must be the last clause of its SELECT (only LIMIT may follow)",
        )
    return False


def _no_clause(cursor: Cursor) -> SqlExtError:
    following = cursor.peek()
    if following.upper:
        message = f"EMIT cannot be followed by {following.upper} (quote it as `emit` if it is a name)"
    else:
        message = "EMIT must be followed by a trigger, a mode or an option (or quote it as `emit` if it is an alias)"
    span = cursor.source.span(cursor.token.start, cursor.token.end)
    return SqlExtError("EMIT-001", message, span=span)
