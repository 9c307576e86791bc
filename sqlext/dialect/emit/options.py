"""Parse what may follow a trigger: mode, lateness, evictor, panes, OPTIONS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlext.dialect.cursor import Cursor
from sqlext.dialect.emit import fills, nodes, primaries
from sqlext.dialect.emit.quantities import at_count, at_duration, parse_count, parse_duration, parse_threshold
from sqlext.dialect.emit.reading import expect_any, expect_close, expect_symbol, expect_words, must_follow
from sqlext.dialect.queries import relations
from sqlext.dialect.tokens import TokenKind
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import Span

#: The names of fields that can be given once, in messages.
_LABELS = {
    "mode": "ACCUMULATING / DISCARDING / RETRACTING",
    "lateness": "ALLOW LATENESS",
    "late_table": "LATE DATA TO / DROP LATE DATA",
    "drop_late": "LATE DATA TO / DROP LATE DATA",
    "evictor": "KEEP / EVICT",
    "on_time_pane": "ON TIME PANE",
    "final_pane": "FINAL PANE",
    "pane_timestamp": "PANE TIMESTAMP",
    "fill": "FILL",
    "options": "OPTIONS",
}

Field = tuple[str, Any]


def at_option(cursor: Cursor) -> bool:
    """Whether an option begins here."""
    word, following = cursor.token.upper, cursor.peek().upper
    if word == "ON":
        return following == "TIME"
    if word == "FINAL":  # EMIT FINAL PANE TIMESTAMP LATEST is ksqlDB's FINAL with a timestamp
        return following == "PANE" and cursor.peek(2).upper != "TIMESTAMP"
    return word in _OPTIONS


def parse_options(cursor: Cursor) -> dict[str, Any]:
    """Read ``{option}`` and return the fields of EmitClause that they give, ``places`` among them."""
    values: dict[str, Any] = {}
    places: dict[str, Span] = {}
    while at_option(cursor):
        start = cursor.token.start
        field, value = _OPTIONS[cursor.token.upper](cursor)
        span = cursor.span_from(start)
        # By label: a late table and DROP LATE DATA exclude each other.
        if any(_LABELS[field] == _LABELS[given] for given in values):
            raise SqlExtError("EMIT-019", f"{_LABELS[field]} is given twice", span=span)
        values[field], places[field] = value, span
    return {**values, "places": tuple(places.items())}


def _mode(cursor: Cursor) -> Field:
    mode = cursor.advance().upper
    cursor.accept_words("PANES")
    return "mode", mode


def _lateness(cursor: Cursor) -> Field:
    word = cursor.advance().upper
    second = {"ALLOW": "LATENESS", "GRACE": "PERIOD"}[word]
    expect_words(cursor, word, second)
    return "lateness", parse_duration(cursor, f"{word} {second}", zero=True)


def _late(cursor: Cursor) -> Field:
    cursor.advance()
    if not cursor.at_any("DATA", "ROWS"):
        raise _misplaced_firing(cursor)
    what = f"LATE {cursor.advance().upper}"
    what = f"{what} {expect_any(cursor, what, 'TO', 'INTO')}"
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        raise must_follow(cursor, what, "a table's name")
    parts, span = relations.parse_name(cursor)
    return "late_table", nodes.LateTable(span, parts)


def _misplaced_firing(cursor: Cursor) -> SqlExtError:
    error = must_follow(cursor, "LATE", "DATA TO or ROWS TO")
    hint = "a LATE trigger stands directly after AFTER WATERMARK, before the options"
    return SqlExtError(error.code, error.message, span=error.span, hint=hint)


def _drop(cursor: Cursor) -> Field:
    cursor.advance()
    expect_words(cursor, "DROP", "LATE")
    expect_any(cursor, "DROP LATE", "DATA", "ROWS")
    return "drop_late", True


def _keep(cursor: Cursor) -> Field:
    start = cursor.advance().start
    if cursor.accept_words("LAST"):
        return "evictor", _keep_last(cursor, start)
    absolute = cursor.accept_words("ABS")
    if not cursor.accept_words("DELTA"):
        raise must_follow(cursor, "KEEP", "LAST or DELTA OF", ("LAST", "DELTA"))
    expression = primaries.parse_delta(cursor)
    expect_symbol(cursor, "<", "KEEP DELTA OF (...)")
    threshold = parse_threshold(cursor, "<")
    before = _before_firing(cursor)
    return "evictor", nodes.KeepDelta(cursor.span_from(start), expression, threshold, absolute, before)


def _keep_last(cursor: Cursor, start: int) -> nodes.Evictor:
    if at_count(cursor):
        n = parse_count(cursor, "KEEP LAST")
        before = _before_firing(cursor)
        return nodes.KeepRows(cursor.span_from(start), n, before)
    if not at_duration(cursor):
        raise must_follow(cursor, "KEEP LAST", "a number of ROWS or a duration")
    ms = parse_duration(cursor, "KEEP LAST")
    before = _before_firing(cursor)
    return nodes.KeepDuration(cursor.span_from(start), ms, before)


def _evict(cursor: Cursor) -> Field:
    start = cursor.advance().start
    expect_words(cursor, "EVICT", "USING")
    name, arguments = primaries.parse_registered(cursor, "EVICT USING")
    before = _before_firing(cursor)
    return "evictor", nodes.EvictUsing(cursor.span_from(start), name, arguments, before)


def _before_firing(cursor: Cursor) -> bool:
    """Read ``[BEFORE | AFTER] FIRING`` and return whether rows are taken away before the firing."""
    word = cursor.accept_any("BEFORE", "AFTER")
    if word:
        expect_words(cursor, word, "FIRING")
    return word != "AFTER"


def _on_time(cursor: Cursor) -> Field:
    cursor.advance()
    expect_words(cursor, "ON", "TIME", "PANE")
    return "on_time_pane", _pane(cursor, "ON TIME PANE", "ALWAYS", "IF")


def _final(cursor: Cursor) -> Field:
    cursor.advance()
    expect_words(cursor, "FINAL", "PANE")
    return "final_pane", _pane(cursor, "FINAL PANE", "ALWAYS", "IF", "NEVER")


def _pane(cursor: Cursor, what: str, *choices: str) -> str:
    word = expect_any(cursor, what, *choices)
    if word == "IF":
        expect_words(cursor, f"{what} IF", "NOT", "EMPTY")
        return "IF NOT EMPTY"
    return word


def _pane_timestamp(cursor: Cursor) -> Field:
    cursor.advance()
    expect_words(cursor, "PANE", "TIMESTAMP")
    word = expect_any(cursor, "PANE TIMESTAMP", "END", "EARLIEST", "LATEST")
    if word == "END":
        expect_words(cursor, "PANE TIMESTAMP END", "OF", "WINDOW")
        word = "END OF WINDOW"
    return "pane_timestamp", word


def _fill(cursor: Cursor) -> Field:
    return "fill", fills.parse_fill(cursor)


def _engine_options(cursor: Cursor) -> Field:
    cursor.advance()
    expect_symbol(cursor, "(", "OPTIONS")
    given = [_engine_option(cursor, ())]
    while cursor.accept_symbol(","):
        given.append(_engine_option(cursor, tuple(name for name, _ in given)))
    expect_close(cursor)
    return "options", tuple(given)


def _engine_option(cursor: Cursor, given: tuple[str, ...]) -> tuple[str, str]:
    """Read ``name = value``; both may be in quotes."""
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED, TokenKind.STRING):
        raise must_follow(cursor, "OPTIONS (" if not given else ",", "an option's name")
    written = cursor.token.value
    name, known = written.lower(), nodes.ENGINE_OPTIONS
    if name not in known:
        hint = did_you_mean(written, known) or f"the options of EMIT are {', '.join(known)}"
        cursor.fail("EMIT-028", f"EMIT has no option `{written}`", hint)
    if name in given:
        cursor.fail("EMIT-019", f"the option `{name}` is given twice")
    cursor.advance()
    expect_symbol(cursor, "=", name)
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.STRING, TokenKind.NUMBER):
        raise must_follow(cursor, f"{name} =", "a value")
    value = cursor.token.value.lower()
    if value not in known[name]:
        choices = " or ".join(f"'{v}'" for v in known[name])
        message = f"the option `{name}` must be {choices}, not '{cursor.token.value}'"
        cursor.fail("EMIT-028", message, did_you_mean(value, known[name]))
    cursor.advance()
    return name, value


_OPTIONS: dict[str, Callable[[Cursor], Field]] = {
    "ACCUMULATING": _mode,
    "DISCARDING": _mode,
    "RETRACTING": _mode,
    "ALLOW": _lateness,
    "GRACE": _lateness,
    "LATE": _late,
    "DROP": _drop,
    "KEEP": _keep,
    "EVICT": _evict,
    "ON": _on_time,
    "FINAL": _final,
    "PANE": _pane_timestamp,
    "FILL": _fill,
    "OPTIONS": _engine_options,
}

#: Words that begin an option.
OPTION_WORDS = tuple(_OPTIONS)
