"""Parse the operands of a trigger's operators."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.dialect.ast.expressions import Expr, Node
from sqlext.dialect.cursor import Cursor, enter, leave
from sqlext.dialect.emit import nodes, triggers
from sqlext.dialect.emit.quantities import at_count, at_duration, parse_count, parse_duration, parse_threshold
from sqlext.dialect.emit.reading import (
    expect_any,
    expect_close,
    expect_name,
    expect_symbol,
    expect_words,
    found,
    must_follow,
    refusal,
)
from sqlext.dialect.expressions import calls, operations
from sqlext.dialect.tokens import TokenKind
from sqlext.errors import SqlExtError
from sqlext.source import Span

_AFTER = "a number of ROWS, a duration, WATERMARK, DELAY, IDLE, DELTA OF or PROCESSING TIME"
_EVERY = "a number of ROWS, a duration, ROW"
_TRIGGERS = "AFTER, EVERY, ON WINDOW CLOSE, NEVER, WHEN, CASE, REPEAT, ALL OF, ANY OF, EACH OF, USING TRIGGER"


def parse_primary(cursor: Cursor) -> nodes.Trigger:
    """Read one trigger without operators, or a whole one in parentheses."""
    parser = _PRIMARIES.get(cursor.token.upper or cursor.token.text)
    if parser is None or cursor.token.kind not in (TokenKind.WORD, TokenKind.SYMBOL):
        raise refusal(cursor, f"expected a trigger ({_TRIGGERS}) but found {found(cursor)}", _PRIMARIES)
    return parser(cursor)


def at_operand(cursor: Cursor) -> bool:
    """Whether a trigger may begin here."""
    return cursor.token.upper in _PRIMARIES or cursor.at_symbol("(")


def _parenthesised(cursor: Cursor) -> nodes.Trigger:
    cursor.advance()
    trigger = triggers.parse_trigger(cursor)
    expect_close(cursor)
    return trigger


def _repeat(cursor: Cursor) -> nodes.Trigger:
    start = cursor.advance().start
    expect_symbol(cursor, "(", "REPEAT")
    of = triggers.parse_trigger(cursor)
    expect_close(cursor)
    # Repeated for ever is repeated for ever once more.
    return nodes.Repeat(cursor.span_from(start), of.of if isinstance(of, nodes.Repeat) else of)


_LISTS: dict[str, triggers.Composite] = {"ALL": nodes.AllOf, "ANY": nodes.AnyOf, "EACH": nodes.EachOf}


def _list(cursor: Cursor) -> nodes.Trigger:
    word = cursor.advance()
    expect_words(cursor, word.upper, "OF")
    expect_symbol(cursor, "(", f"{word.upper} OF")
    parts = [triggers.parse_trigger(cursor)]
    while cursor.accept_symbol(","):
        parts.append(triggers.parse_trigger(cursor))
    expect_close(cursor)
    span = cursor.span_from(word.start)
    if len(parts) < 2:
        raise SqlExtError("EMIT-013", "ALL OF, ANY OF and EACH OF need at least two triggers", span=span)
    return triggers.compose(_LISTS[word.upper], span, parts)


def _never(cursor: Cursor) -> nodes.Trigger:
    return nodes.Never(cursor.span_from(cursor.advance().start))


def _on(cursor: Cursor) -> nodes.Trigger:
    start = cursor.advance().start
    # ON TIME PANE and ON UPDATE, an option and an alias, have been tried before.
    expect_words(cursor, "ON", "WINDOW", "CLOSE")
    return _window_close(cursor, start)


def _window_close(cursor: Cursor, start: int) -> nodes.Trigger:
    delay, timeout = held_back(cursor, "WINDOW CLOSE")
    return nodes.WindowClose(cursor.span_from(start), delay, timeout)


def held_back(cursor: Cursor, what: str) -> tuple[int | None, int | None]:
    """Read ``[[WITH | AND] DELAY d] [AND TIMEOUT d]``; return the delay and the timeout, in milliseconds."""
    if cursor.accept_words("AND", "TIMEOUT"):
        return 0, parse_duration(cursor, "TIMEOUT")
    # AND DELAY is Timeplus's; any other AND joins triggers.
    if cursor.at_any("WITH", "AND") and cursor.peek().upper == "DELAY":
        cursor.advance()
    if not cursor.accept_words("DELAY"):
        return None, None
    delay = parse_duration(cursor, f"{what} WITH DELAY", zero=True)
    timeout = parse_duration(cursor, "TIMEOUT") if cursor.accept_words("AND", "TIMEOUT") else None
    return delay, timeout


def _after(cursor: Cursor) -> nodes.Trigger:
    start = cursor.advance().start
    if parser := _AFTER_WORDS.get(cursor.token.upper):
        cursor.advance()
        return parser(cursor, start)
    if at_count(cursor):
        return nodes.AfterCount(*_count(cursor, start, "AFTER"))
    if at_duration(cursor):
        raise _not_a_trigger(cursor)
    raise must_follow(cursor, "AFTER", _AFTER, _AFTER_WORDS)


def _not_a_trigger(cursor: Cursor) -> SqlExtError:
    """Return the error for a duration after AFTER: it does not say of which time."""
    start = cursor.token.start
    ahead = 0
    while cursor.peek(ahead).kind not in (TokenKind.NUMBER, TokenKind.STRING, TokenKind.END):
        ahead += 1
    value = cursor.peek(ahead).value
    # A duration that is wrong in itself is told first.
    parse_duration(cursor, "AFTER", zero=True)
    span = cursor.span_from(start)
    message = f"AFTER <duration> is not a trigger; write AFTER DELAY {value} (processing time) or AFTER WATERMARK"
    return SqlExtError("EMIT-002", message, span=span, hint=f"write AFTER DELAY {span.text}")


def _after_delay(cursor: Cursor, start: int) -> nodes.Trigger:
    at = cursor.tokens[cursor.index - 1].start
    ms = parse_duration(cursor, "AFTER DELAY", zero=True)
    transforms = (nodes.Delay(cursor.span_from(at), ms), *_transforms(cursor))
    return nodes.AfterDelay(cursor.span_from(start), transforms)


def _after_processing_time(cursor: Cursor, start: int) -> nodes.Trigger:
    expect_words(cursor, "AFTER PROCESSING", "TIME")
    transforms = tuple(_transforms(cursor))
    return nodes.AfterDelay(cursor.span_from(start), transforms)


def _transforms(cursor: Cursor) -> list[nodes.Transform]:
    """Read ``{DELAY d | ALIGNED TO d [OFFSET d]}``."""
    transforms: list[nodes.Transform] = []
    while cursor.at_words("DELAY") or cursor.at_words("ALIGNED"):
        start = cursor.token.start
        if cursor.accept_words("DELAY"):
            ms = parse_duration(cursor, "DELAY", zero=True)
            transforms.append(nodes.Delay(cursor.span_from(start), ms))
        elif cursor.peek().upper == "TO" or transforms:
            transforms.append(_align(cursor))
        else:
            break  # EVERY d ALIGNED
    return transforms


def _align(cursor: Cursor) -> nodes.Align:
    start = cursor.advance().start
    expect_words(cursor, "ALIGNED", "TO")
    period, offset = parse_duration(cursor, "ALIGNED TO"), 0
    if cursor.at_words("OFFSET"):
        cursor.advance()
        if at_duration(cursor):
            offset = parse_duration(cursor, "OFFSET", zero=True)
        else:
            cursor.index -= 1  # the query's OFFSET
    return nodes.Align(cursor.span_from(start), period, offset)


def _after_idle(cursor: Cursor, start: int) -> nodes.Trigger:
    ms = parse_duration(cursor, "AFTER IDLE")
    return nodes.AfterIdle(cursor.span_from(start), ms)


def _after_delta(cursor: Cursor, start: int) -> nodes.Trigger:
    absolute = cursor.tokens[cursor.index - 1].upper == "ABS"
    if absolute:
        expect_words(cursor, "AFTER ABS", "DELTA")
    expression = parse_delta(cursor)
    expect_symbol(cursor, ">", "AFTER DELTA OF (...)")
    threshold = parse_threshold(cursor, ">")
    return nodes.AfterDelta(cursor.span_from(start), expression, threshold, absolute)


def parse_delta(cursor: Cursor) -> Expr:
    """Read ``OF (expression)``, which follows DELTA."""
    expect_words(cursor, "DELTA", "OF")
    return _in_parentheses(cursor, "DELTA OF", "an expression")


def _in_parentheses(cursor: Cursor, after: str, what: str) -> Expr:
    if not cursor.accept_symbol("("):
        raise must_follow(cursor, after, f"{what} in parentheses")
    enter(cursor)
    expression = operations.parse_expression(cursor)
    leave(cursor)
    expect_close(cursor)
    return expression


def _after_at_least(cursor: Cursor, start: int) -> nodes.Trigger:
    cursor.index -= 1
    return nodes.AfterCount(*_count(cursor, start, "AFTER"))


def _count(cursor: Cursor, start: int, what: str) -> tuple[Span, int, bool]:
    """Read ``[AT LEAST] n ROWS`` and return an AfterCount's fields."""
    at_least = cursor.accept_words("AT")
    if at_least:
        expect_words(cursor, f"{what} AT", "LEAST")
        what = f"{what} AT LEAST"
    n = parse_count(cursor, what)
    return cursor.span_from(start), n, at_least


def _after_window(cursor: Cursor, start: int) -> nodes.Trigger:
    expect_words(cursor, "AFTER WINDOW", "CLOSE")
    return _window_close(cursor, start)


def _after_watermark(cursor: Cursor, start: int) -> nodes.Trigger:
    delay, timeout = held_back(cursor, "AFTER WATERMARK")
    firings: dict[str, nodes.Trigger] = {}
    late_span = None
    # LATE DATA TO is an option, no firing.
    while cursor.at_words("EARLY") or (cursor.at_words("LATE") and cursor.peek().upper not in ("DATA", "ROWS")):
        phase = cursor.token
        if phase.upper in firings:
            cursor.fail("EMIT-015", f"{phase.upper} is given twice")
        if phase.upper == "LATE":
            late_span = cursor.source.span(phase.start, phase.end)
        cursor.advance()
        firings[phase.upper] = _firing(cursor, phase.upper)
    span = cursor.span_from(start)
    return nodes.AfterWatermark(span, firings.get("EARLY"), firings.get("LATE"), delay, timeout, late_span)


def _firing(cursor: Cursor, phase: str) -> nodes.Trigger:
    enter(cursor)
    firing = triggers.parse_postfix(cursor)
    leave(cursor)
    for node in firing.walk():
        if isinstance(node, (nodes.AfterWatermark, nodes.WindowClose)):
            message = f"{phase} cannot contain AFTER WATERMARK or ON WINDOW CLOSE"
            raise SqlExtError("EMIT-014", message, span=node.span)
    return firing


def _every(cursor: Cursor) -> nodes.Trigger:
    start = cursor.advance().start
    if cursor.accept_words("ROW"):
        return nodes.EveryRow(cursor.span_from(start))
    if cursor.at_words("AT") or at_count(cursor):
        count = nodes.AfterCount(*_count(cursor, start, "EVERY"))
        return nodes.Repeat(count.span, count)
    if at_duration(cursor):
        return _period(cursor, start)
    raise must_follow(cursor, "EVERY", _EVERY, ("ROW",))


def _period(cursor: Cursor, start: int) -> nodes.Trigger:
    """Read what follows EVERY if it is a duration."""
    at = cursor.token.start
    ms = parse_duration(cursor, "EVERY")
    first = nodes.Delay(cursor.span_from(at), ms)
    time = ""
    if cursor.accept_words("OF"):
        time = expect_any(cursor, "OF", "EVENT", "PROCESSING")
        expect_words(cursor, f"OF {time}", "TIME")
    if time == "EVENT":
        repeat = cursor.accept_words("REPEAT")
        return nodes.EveryEventTime(cursor.span_from(start), ms, repeat)
    transforms = tuple(_transforms(cursor))
    if not transforms and cursor.accept_words("ALIGNED"):
        repeat = cursor.accept_words("REPEAT")
        return nodes.EveryAligned(cursor.span_from(start), ms, repeat)
    if cursor.accept_words("REPEAT"):
        return nodes.EveryPeriod(cursor.span_from(start), ms, transforms)
    delay = nodes.AfterDelay(cursor.span_from(start), (first, *transforms))
    return nodes.Repeat(delay.span, delay)


def _when(cursor: Cursor) -> nodes.Trigger:
    start = cursor.advance().start
    condition = _in_parentheses(cursor, "WHEN", "a condition")
    return nodes.When(cursor.span_from(start), condition)


def _case(cursor: Cursor) -> nodes.Trigger:
    start = cursor.advance().start
    branches: list[nodes.CaseBranch] = []
    while not branches or cursor.at_words("WHEN"):
        branches.append(_branch(cursor))
    otherwise = _action(cursor, "ELSE") if cursor.accept_words("ELSE") else "CONTINUE"
    if not cursor.accept_words("END"):
        raise refusal(cursor, f"expected WHEN, ELSE or END of CASE, found {found(cursor)}", ("WHEN", "ELSE", "END"))
    return nodes.CaseTrigger(cursor.span_from(start), tuple(branches), otherwise)


def _branch(cursor: Cursor) -> nodes.CaseBranch:
    start = cursor.token.start
    expect_words(cursor, "CASE", "WHEN")
    condition = operations.parse_expression(cursor)
    expect_words(cursor, "the condition", "THEN")
    action = _action(cursor, "THEN")
    return nodes.CaseBranch(cursor.span_from(start), condition, action)


def _action(cursor: Cursor, after: str) -> str:
    action = cursor.accept_any("FIRE", "PURGE", "CONTINUE")
    if action == "FIRE" and cursor.accept_words("AND"):
        expect_words(cursor, "FIRE AND", "PURGE")
        return "FIRE AND PURGE"
    if not action:
        what = cursor.token.text if cursor.token.upper else found(cursor)
        cursor.fail("EMIT-016", f"a CASE trigger yields FIRE, PURGE, FIRE AND PURGE or CONTINUE, not {what}")
    return action


def _using(cursor: Cursor) -> nodes.Trigger:
    start = cursor.advance().start
    expect_words(cursor, "USING", "TRIGGER")
    name, arguments = parse_registered(cursor, "USING TRIGGER")
    return nodes.UsingTrigger(cursor.span_from(start), name, arguments)


def parse_registered(cursor: Cursor, after: str) -> tuple[str, tuple[Node, ...]]:
    """Read ``name(arguments)`` of a registered class."""
    name = expect_name(cursor, after)
    expect_symbol(cursor, "(", name)
    enter(cursor)
    arguments = () if cursor.at_symbol(")") else calls.parse_arguments(cursor)
    leave(cursor)
    expect_close(cursor)
    return name, arguments


_AFTER_WORDS: dict[str, Callable[[Cursor, int], nodes.Trigger]] = {
    "WATERMARK": _after_watermark,
    "WINDOW": _after_window,
    "DELAY": _after_delay,
    "PROCESSING": _after_processing_time,
    "IDLE": _after_idle,
    "ABS": _after_delta,
    "DELTA": _after_delta,
    "AT": _after_at_least,
}

_PRIMARIES: dict[str, Callable[[Cursor], nodes.Trigger]] = {
    "AFTER": _after,
    "EVERY": _every,
    "ON": _on,
    "NEVER": _never,
    "WHEN": _when,
    "CASE": _case,
    "REPEAT": _repeat,
    "ALL": _list,
    "ANY": _list,
    "EACH": _list,
    "USING": _using,
    "(": _parenthesised,
}
