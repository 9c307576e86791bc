"""What is printed of a clause reads as the same clause, and prints the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.dialect.ast.queries import Select
from sqlext.dialect.emit.nodes import ENGINE_OPTIONS, EmitClause
from sqlext.dialect.emit.printing import emit_text
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError

COUNT = st.integers(1, 2**63 - 1).map(lambda n: f"{n} ROWS")
UNIT = st.sampled_from(
    ["ms", "s", "m", "h", "d", "w", " MILLISECONDS", " SECOND", " MINUTES", " HOUR", " DAYS", " WEEK"]
)
DURATION = st.one_of(
    st.builds(lambda n, u: f"{n}{u}", st.integers(1, 10**6), UNIT),
    st.builds(lambda n, u: f"INTERVAL '{n}'{u}", st.integers(1, 10**6), UNIT),
    st.sampled_from(["INTERVAL '1.5' SECOND", "'1'MINUTE", "0.25 DAYS"]),
)
EXPRESSION = st.sampled_from(
    ["a", "a + 1", "SUM(a) > 1", "a -- b\n * 2", "'x' || `b c`", "(a)", "a IN (1, 2)", "f(a, 'b')"]
)
NAME = st.sampled_from(["f", "`a b`", "`x``y`", "end", "LIMIT"])
NUMBER = st.sampled_from(["2.5", "-1", "1e3", "0", "100.00"])


def sentence(pattern: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy that fills a pattern."""
    return st.tuples(*parts).map(lambda values: pattern.format(*values))


def maybe(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.just(""), strategy)


ALIGN = st.lists(
    st.one_of(
        sentence(" DELAY {}", DURATION),
        sentence(" ALIGNED TO {}{}", DURATION, maybe(sentence(" OFFSET {}", DURATION))),
    ),
    max_size=2,
).map("".join)
REPEAT = st.sampled_from(["", " REPEAT"])
HELD_BACK = maybe(sentence(" WITH DELAY {}{}", DURATION, maybe(sentence(" AND TIMEOUT {}", DURATION))))
ACTION = st.sampled_from(["FIRE", "PURGE", "FIRE AND PURGE", "CONTINUE"])
LEAF = st.one_of(
    st.sampled_from(
        ["NEVER", "EVERY ROW", "AFTER WATERMARK", "AFTER PROCESSING TIME", "EVERY 1 ROWS", "AFTER DELAY 0s"]
    ),
    sentence("AFTER {}", COUNT),
    sentence("EVERY {}", COUNT),
    sentence("AFTER AT LEAST {}", COUNT),
    sentence("EVERY AT LEAST {}", COUNT),
    sentence("AFTER DELAY {}{}", DURATION, ALIGN),
    sentence("AFTER PROCESSING TIME{}", ALIGN),
    sentence("EVERY {}{}{}", DURATION, ALIGN, REPEAT),
    sentence("EVERY {} ALIGNED{}", DURATION, REPEAT),
    sentence("EVERY {} OF EVENT TIME{}", DURATION, REPEAT),
    sentence("AFTER IDLE {}", DURATION),
    sentence("AFTER{} DELTA OF ({}) > {}", st.sampled_from(["", " ABS"]), EXPRESSION, NUMBER),
    sentence("WHEN ({})", EXPRESSION),
    sentence("CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END", EXPRESSION, ACTION, EXPRESSION, ACTION, ACTION),
    sentence("USING TRIGGER {}({}, x => {})", NAME, EXPRESSION, EXPRESSION),
    sentence("AFTER WATERMARK{}", HELD_BACK),
)
PHASE = st.sampled_from(["EARLY", "LATE"])
TRIGGER = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        sentence("({})", inner),
        sentence("REPEAT ({})", inner),
        sentence("{} OF ({}, {})", st.sampled_from(["ALL", "ANY", "EACH"]), inner, inner),
        sentence("{} {} {}", inner, st.sampled_from(["AND", "OR", "THEN", "UNTIL"]), inner),
        sentence("({}) {} ({})", inner, st.sampled_from(["AND", "OR", "THEN", "UNTIL"]), inner),
        sentence("{} TIMEOUT {} SINCE LAST ROW", inner, DURATION),
        sentence("({}) TIMEOUT {} KEEPING STATE", inner, DURATION),
        sentence("({}) PURGING", inner),
        sentence("AFTER WATERMARK EARLY ({}) LATE ({})", inner, inner),
        sentence("(AFTER WATERMARK {} ({}))", PHASE, inner),
    ),
    max_leaves=6,
)
ALIAS = st.one_of(
    st.sampled_from(["DEFAULT", "CONTINUE", "CHANGES", "FINAL", "ON UPDATE", "PER EVENT", "WITHOUT DELAY"]),
    sentence("ON WINDOW CLOSE{}", HELD_BACK),
    sentence("WITH DELAY {} BEFORE WATERMARK", DURATION),
    sentence("WITHOUT DELAY BEFORE WATERMARK, WITH DELAY {} AFTER WATERMARK", DURATION),
    sentence("PERIODIC {}{}", DURATION, REPEAT),
    sentence("PERIODIC {}{} WITH DELAY {} AND TIMEOUT {}", DURATION, REPEAT, DURATION, DURATION),
    sentence("ON UPDATE WITH BATCH {} WITH DELAY {}", DURATION, DURATION),
    sentence("TIMEOUT {}", DURATION),
    sentence("LAST {} AND PERIODIC {}", DURATION, DURATION),
    sentence("AFTER KEY EXPIRE IDENTIFIED BY `a b` WITH MAXSPAN {} AND TIMEOUT {}", DURATION, DURATION),
)
WHEN = st.sampled_from(["", " BEFORE FIRING", " AFTER FIRING"])
PANES = st.sampled_from(["ALWAYS", "IF NOT EMPTY"])
OPTIONS = st.sampled_from(sorted(ENGINE_OPTIONS)).flatmap(
    lambda name: st.sampled_from(ENGINE_OPTIONS[name]).map(lambda value: f"OPTIONS ({name} = '{value}')")
)
EVICTOR = st.one_of(
    sentence("KEEP LAST {}{}", COUNT, WHEN),
    sentence("KEEP LAST {}{}", DURATION, WHEN),
    sentence("KEEP{} DELTA OF ({}) < {}{}", st.sampled_from(["", " ABS"]), EXPRESSION, NUMBER, WHEN),
    sentence("EVICT USING {}(){}", NAME, WHEN),
)
LATE = st.one_of(st.just("DROP LATE ROWS"), sentence("LATE DATA TO {}.{}", NAME, NAME))
FILLED = sentence("{} = {}", NAME, st.sampled_from(["LAST", "LINEAR", "NULL", "-1.5", "'a b'", "DATE '2024-01-01'"]))
KEYS = sentence("EACH KEY OF {}", NAME)
FILL = sentence("FILL FOR {}{}", st.one_of(DURATION, KEYS), maybe(sentence(" WITH ({})", FILLED)))
CLAUSE = sentence(
    "EMIT {} {} {} {} {} {} {} {} {} {} {}",
    st.sampled_from(["", "STREAM", "CHANGELOG"]),
    st.one_of(TRIGGER, TRIGGER, TRIGGER.map("ONCE {}".format), ALIAS),
    maybe(st.sampled_from(["ACCUMULATING", "DISCARDING", "RETRACTING PANES"])),
    maybe(sentence("ALLOW LATENESS {}", DURATION)),
    maybe(LATE),
    maybe(EVICTOR),
    maybe(sentence("ON TIME PANE {}", PANES)),
    maybe(sentence("FINAL PANE {}", PANES)),
    maybe(st.sampled_from(["PANE TIMESTAMP LATEST", "PANE TIMESTAMP END OF WINDOW"])),
    maybe(FILL),
    maybe(OPTIONS),
)
#: What a clause of correct words may still be refused for: parts that contradict each other, parentheses that lack.
CONTRADICTIONS = tuple(f"EMIT-0{n}" for n in (10, 11, 12, 14, 17, 19, 20, 21, 22, 27))


def emit_of(text: str) -> EmitClause:
    body = parse_query_text(f"SELECT 1 {text}").body
    assert isinstance(body, Select)
    assert body.emit is not None
    return body.emit


def refusal(text: str) -> SqlExtError | None:
    try:
        emit_of(text)
    except SqlExtError as error:
        return error
    return None


def check(text: str, shape: Callable[[Any], str]) -> None:
    if error := refusal(text):
        assert error.code in CONTRADICTIONS, f"{error} in {text}"
        return
    clause = emit_of(text)
    printed = emit_text(clause)
    again = emit_of(printed)
    assert shape(again) == shape(clause), printed
    assert emit_text(again) == printed


@settings(max_examples=400, deadline=None)
@given(TRIGGER)
def test_triggers(shape: Callable[[Any], str], text: str) -> None:
    check(f"EMIT {text} ALLOW LATENESS 1d", shape)


@settings(max_examples=400, deadline=None)
@given(CLAUSE)
def test_clauses(shape: Callable[[Any], str], text: str) -> None:
    check(text, shape)
