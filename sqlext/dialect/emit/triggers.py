"""Parse triggers and their operators.

trigger  ::= chain [UNTIL chain]
chain    ::= operands joined by AND, OR, THEN, from tight to loose
postfix  ::= primary {TIMEOUT duration [SINCE (FIRST | LAST) ROW] [KEEPING STATE] | PURGING}
"""

from __future__ import annotations

from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.emit import nodes, primaries
from sqlext.dialect.emit.quantities import parse_duration
from sqlext.dialect.emit.reading import expect_any, expect_words
from sqlext.errors import SqlExtError
from sqlext.source import Span

Composite = type[nodes.AllOf] | type[nodes.AnyOf] | type[nodes.EachOf]

# From loose to tight.
_LEVELS: tuple[tuple[str, Composite], ...] = (("THEN", nodes.EachOf), ("OR", nodes.AnyOf), ("AND", nodes.AllOf))
#: Words between two triggers.
INFIXES = ("UNTIL", "THEN", "OR", "AND")

_EVERY = (nodes.EveryRow, nodes.EveryPeriod, nodes.EveryAligned, nodes.EveryEventTime)


def parse_trigger(cursor: Cursor) -> nodes.Trigger:
    """Read a trigger with all its operators."""
    enter(cursor, 2)
    start = cursor.token.start
    trigger = _chain(cursor, 0)
    if cursor.accept_words("UNTIL"):
        until = _chain(cursor, 0)
        trigger = nodes.Until(cursor.span_from(start), trigger, until)
        if cursor.at_words("UNTIL"):
            cursor.fail("EMIT-010", "UNTIL cannot be chained; use parentheses")
    leave(cursor, 2)
    return trigger


def parse_postfix(cursor: Cursor) -> nodes.Trigger:
    """Read a trigger with no operators but TIMEOUT and PURGING."""
    start, before = cursor.token.start, cursor.tokens[cursor.index - 1].upper
    trigger = primaries.parse_primary(cursor)
    # In parentheses its span begins behind them, and nothing is ambiguous.
    if trigger.span.start == start and isinstance(trigger, nodes.AfterWatermark):
        _refuse_beside_operator(cursor, trigger, before)
    levels = 0
    while True:
        if cursor.accept_words("TIMEOUT"):
            trigger = _timeout(cursor, start, trigger)
        elif cursor.accept_words("PURGING"):
            trigger = nodes.Purging(cursor.span_from(start), trigger)
        else:
            break
        # Each makes the tree one higher.
        enter(cursor)
        levels += 1
    leave(cursor, levels)
    return trigger


def compose(kind: Composite, span: Span, parts: list[nodes.Trigger]) -> nodes.Trigger:
    """Join triggers; an EVERY directly under AND or OR is read as AFTER of the repeated composite."""
    if kind is nodes.EachOf or not any(map(_is_every, parts)):
        return kind(span, tuple(parts))
    # So all parts start again at each pane (EMIT.md, section 2).
    return nodes.Repeat(span, kind(span, tuple(_after_form(p) for p in parts)))


def _chain(cursor: Cursor, level: int) -> nodes.Trigger:
    if level == len(_LEVELS):
        return parse_postfix(cursor)
    word, kind = _LEVELS[level]
    start, operator = cursor.token.start, cursor.token
    parts = [_chain(cursor, level + 1)]
    while cursor.at_words(word):
        operator = cursor.advance()
        parts.append(_chain(cursor, level + 1))
    if len(parts) == 1:
        return parts[0]
    trigger = compose(kind, cursor.span_from(start), parts)
    if kind is nodes.AllOf:
        _refuse_ambiguous(trigger, cursor.source.span(operator.start, operator.end))
    return trigger


def _timeout(cursor: Cursor, start: int, of: nodes.Trigger) -> nodes.Trigger:
    ms = parse_duration(cursor, "TIMEOUT")
    since = ""
    if cursor.accept_words("SINCE"):
        since = expect_any(cursor, "SINCE", "FIRST", "LAST")
        expect_words(cursor, f"SINCE {since}", "ROW")
    keep = cursor.accept_words("KEEPING")
    if keep:
        expect_words(cursor, "KEEPING", "STATE")
    return nodes.Timeout(cursor.span_from(start), of, ms, since == "LAST", keep)


def _is_every(trigger: nodes.Trigger) -> bool:
    """Whether a trigger is spelled EVERY, or is a composite of such: REPEAT (..) is wider than what it repeats."""
    return isinstance(trigger, _EVERY) or (isinstance(trigger, nodes.Repeat) and trigger.span == trigger.of.span)


def _after_form(trigger: nodes.Trigger) -> nodes.Trigger:
    """Return the AFTER of an EVERY; periods that run on have none and stay."""
    if isinstance(trigger, nodes.EveryRow):
        # EVERY ROW is asked once per micro-batch, so an exact count would be another trigger.
        return nodes.AfterCount(trigger.span, 1, at_least=True)
    if isinstance(trigger, nodes.Repeat) and _is_every(trigger):
        return trigger.of
    return trigger


def _refuse_beside_operator(cursor: Cursor, trigger: nodes.AfterWatermark, before: str) -> None:
    """Refuse EARLY or LATE beside an operator: ``EARLY a OR b`` could be either."""
    if trigger.early is None and trigger.late is None:
        return
    if cursor.at_any(*INFIXES):
        side, token = f"before {cursor.token.upper}", cursor.token
        span = cursor.source.span(token.start, token.end)
    elif before in INFIXES:
        side, span = f"after {before}", trigger.span
    else:
        return
    message = (
        f"AFTER WATERMARK with EARLY or LATE must be in parentheses {side}; "
        "a composite early or late trigger must itself be in parentheses: EARLY (a OR b)"
    )
    raise SqlExtError("EMIT-011", message, span=span)


def ambiguous(parts: tuple[nodes.Trigger, ...]) -> bool:
    """Whether these joined by AND would be One SQL's ``AFTER DELAY d AND AFTER WATERMARK``, which means "also"."""
    return any(isinstance(p, nodes.AfterDelay) for p in parts) and any(
        isinstance(p, nodes.AfterWatermark) for p in parts
    )


def _refuse_ambiguous(trigger: nodes.Trigger, span: Span) -> None:
    composite = trigger.of if isinstance(trigger, nodes.Repeat) else trigger
    if isinstance(composite, nodes.AllOf) and ambiguous(composite.parts):
        message = (
            "AFTER DELAY ... AND AFTER WATERMARK is ambiguous. Write AFTER WATERMARK EARLY EVERY <delay> "
            "(early results and a final one), or ALL OF (AFTER DELAY ..., AFTER WATERMARK) "
            "(one result when both hold)"
        )
        raise SqlExtError("EMIT-012", message, span=span)
