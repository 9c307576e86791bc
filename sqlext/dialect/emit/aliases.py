"""Parse the spellings of other systems, straight into our own nodes.

alias ::= policy {, policy}                              -- Blink
        | CHANGES | FINAL                                -- ksqlDB
        | (PERIODIC d [REPEAT | ON UPDATE] | ON UPDATE [WITH BATCH d] | PER EVENT) [WITH DELAY d] [AND TIMEOUT d]
        | TIMEOUT d | LAST d [ON PROCTIME] [AND PERIODIC d]
        | AFTER KEY EXPIRE IDENTIFIED BY c WITH [ONLY] MAXSPAN d [AND TIMEOUT d]                      -- Timeplus
policy ::= (WITH DELAY d | WITHOUT DELAY) [(BEFORE | AFTER) WATERMARK]

Other foreign spellings (AFTER WATERMARK AND DELAY d, GRACE PERIOD d) are part of the grammar itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.emit import nodes, primaries, triggers
from sqlext.dialect.emit.quantities import duration_text, parse_duration
from sqlext.dialect.emit.reading import expect_any, expect_words, must_follow
from sqlext.dialect.expressions import operations
from sqlext.dialect.queries import relations
from sqlext.dialect.tokens import TokenKind
from sqlext.errors import SqlExtError
from sqlext.source import Span

#: What Timeplus emits by where no period is given.
_TIMEPLUS_PERIOD = 2_000


class Meaning(NamedTuple):
    """What an alias stands for."""

    trigger: nodes.Trigger
    mode: str | None = None
    evictor: nodes.Evictor | None = None


def parse_alias(cursor: Cursor) -> Meaning | None:
    """Read an alias if one comes next."""
    # Not every AFTER, ON or FINAL is an alias: a parser that gives None has not moved.
    parser = _ALIASES.get(cursor.token.upper)
    return parser(cursor) if parser is not None else None


def _every(span: Span, ms: int) -> nodes.Repeat:
    return nodes.Repeat(span, nodes.AfterDelay(span, (nodes.Delay(span, ms),)))


def _blink(cursor: Cursor) -> Meaning:
    start = cursor.token.start
    phases: dict[str, nodes.Trigger] = {}
    while True:
        firing, named = _policy(cursor)
        for phase in named:
            if phase in phases:
                message = f"two policies are given for {phase} WATERMARK"
                raise SqlExtError("EMIT-018", message, span=firing.span)
            phases[phase] = firing
        # Any other comma belongs to what stands around the query.
        if not (cursor.at_symbol(",") and cursor.peek().upper in ("WITH", "WITHOUT")):
            break
        cursor.advance()
    span = cursor.span_from(start)
    # Without such a policy late rows wait for the closing pane, as in Blink.
    late = phases.get("AFTER")
    late_span = late.span if late is not None else None
    return Meaning(nodes.AfterWatermark(span, phases.get("BEFORE"), late or nodes.Never(span), late_span=late_span))


def _policy(cursor: Cursor) -> tuple[nodes.Trigger, tuple[str, ...]]:
    """Read one policy; return how it fires and in which phases."""
    word = cursor.advance()
    expect_words(cursor, word.upper, "DELAY")
    ms = parse_duration(cursor, "WITH DELAY") if word.upper == "WITH" else None
    phase = cursor.accept_any("BEFORE", "AFTER")
    if phase:
        expect_words(cursor, phase, "WATERMARK")
    span = cursor.span_from(word.start)
    firing = nodes.EveryRow(span) if ms is None else _every(span, ms)
    return firing, (phase,) if phase else ("BEFORE", "AFTER")


def _changes(cursor: Cursor) -> Meaning:
    return Meaning(nodes.EveryRow(cursor.span_from(cursor.advance().start)))


def _final(cursor: Cursor) -> Meaning | None:
    # The option FINAL PANE; see `options.at_option`.
    if cursor.peek().upper == "PANE" and cursor.peek(2).upper != "TIMESTAMP":
        return None
    close = nodes.WindowClose(cursor.span_from(cursor.advance().start))
    if cursor.at_any(*triggers.INFIXES, "TIMEOUT", "PURGING"):
        raise combined(close)
    return Meaning(close)


def combined(close: nodes.WindowClose) -> SqlExtError:
    """Return EMIT-022."""
    message = "ON WINDOW CLOSE and FINAL cannot be combined with other triggers; use AFTER WATERMARK"
    return SqlExtError("EMIT-022", message, span=close.span)


def _periodic(cursor: Cursor) -> Meaning:
    start = cursor.advance().start
    ms = parse_duration(cursor, "PERIODIC")
    if cursor.accept_words("REPEAT"):
        return _held_back(cursor, start, nodes.EveryPeriod(cursor.span_from(start), ms))
    # An older spelling of ON UPDATE WITH BATCH.
    cursor.accept_words("ON", "UPDATE")
    return _held_back(cursor, start, _every(cursor.span_from(start), ms))


def _on_update(cursor: Cursor) -> Meaning | None:
    if cursor.peek().upper != "UPDATE":
        return None
    start = cursor.advance().start
    cursor.advance()
    if not cursor.at_words("WITH") or cursor.peek().upper == "DELAY":
        return _held_back(cursor, start, nodes.EveryRow(cursor.span_from(start)))
    expect_words(cursor, cursor.advance().upper, "BATCH")
    ms = parse_duration(cursor, "WITH BATCH")
    return _held_back(cursor, start, _every(cursor.span_from(start), ms))


def _held_back(cursor: Cursor, start: int, firing: nodes.Trigger) -> Meaning:
    """Read what Timeplus says of the watermark behind a firing: it closes windows later, or where no rows come."""
    delay, timeout = primaries.held_back(cursor, cursor.tokens[cursor.index - 1].text)
    if delay is None:
        return Meaning(firing)
    span = cursor.span_from(start)
    # What comes behind a closed window is dropped there.
    return Meaning(nodes.AfterWatermark(span, firing, nodes.Never(span), delay, timeout))


def _per_event(cursor: Cursor) -> Meaning:
    start = cursor.advance().start
    expect_words(cursor, "PER", "EVENT")
    span = cursor.span_from(start)
    # Not EveryRow, which fires once per micro-batch (M5 of EMIT.md).
    return _held_back(cursor, start, nodes.Repeat(span, nodes.AfterCount(span, 1)))


def _timeout(cursor: Cursor) -> Meaning:
    start = cursor.advance().start
    ms = parse_duration(cursor, "TIMEOUT")
    return Meaning(nodes.AfterIdle(cursor.span_from(start), ms, of_query=True))


def _last(cursor: Cursor) -> Meaning:
    start = cursor.advance().start
    last = parse_duration(cursor, "LAST")
    # It changes nothing: what is kept is measured from the newest row (EMIT.md, section 6).
    if cursor.at_words("ON", "PROCTIME"):
        cursor.index += 2
    kept = nodes.KeepDuration(cursor.span_from(start), last)
    period = _TIMEPLUS_PERIOD
    if cursor.accept_words("AND"):
        expect_words(cursor, "AND", "PERIODIC")
        period = parse_duration(cursor, "PERIODIC")
    return Meaning(_every(cursor.span_from(start), period), evictor=kept)


def _key_expire(cursor: Cursor) -> Meaning | None:
    if not cursor.at_words("AFTER", "KEY"):
        return None
    start = cursor.token.start
    cursor.index += 2
    expect_words(cursor, "AFTER KEY", "EXPIRE")
    if not cursor.at_words("IDENTIFIED"):
        hint = "Timeplus takes its own column _tp_time here; name the column whose span counts"
        error = must_follow(cursor, "AFTER KEY EXPIRE", "IDENTIFIED BY and a column")
        raise SqlExtError(error.code, error.message, span=error.span, hint=hint)
    cursor.advance()
    expect_words(cursor, "IDENTIFIED", "BY")
    if cursor.token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        raise must_follow(cursor, "IDENTIFIED BY", "a column")
    _, column = relations.parse_name(cursor)
    expect_words(cursor, column.text, "WITH")
    if expect_any(cursor, "WITH", "MAXSPAN", "ONLY") == "ONLY":
        expect_words(cursor, "WITH ONLY", "MAXSPAN")
    ms = parse_duration(cursor, "MAXSPAN", zero=True)
    span = cursor.span_from(start)
    condition = nodes.When(span, _wider_than(column, ms, span, cursor.mode))
    if not cursor.accept_words("AND", "TIMEOUT"):
        return Meaning(nodes.Repeat(span, condition), mode="DISCARDING")
    idle = parse_duration(cursor, "TIMEOUT")
    span = cursor.span_from(start)
    either = nodes.AnyOf(span, (condition, nodes.AfterIdle(span, idle)))
    return Meaning(nodes.Repeat(span, either), mode="DISCARDING")


def _wider_than(column: Span, ms: int, place: Span, mode: str) -> Expr:
    """Return the condition that a column's values lie further apart; messages about it point to the alias."""
    text = f"MAX({column.text}) - MIN({column.text}) > {duration_text(ms)}"
    return operations.parse_expression(Cursor.over(place.source.reworded(place, text), mode))


_ALIASES: dict[str, Callable[[Cursor], Meaning | None]] = {
    "WITH": _blink,
    "WITHOUT": _blink,
    "CHANGES": _changes,
    "FINAL": _final,
    "PERIODIC": _periodic,
    "ON": _on_update,
    "PER": _per_event,
    "TIMEOUT": _timeout,
    "LAST": _last,
    "AFTER": _key_expire,
}

#: Words that begin an alias.
ALIAS_WORDS = tuple(_ALIASES)
