"""The EMIT clause: every example of its specification, spellings of other systems, durations, options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sqlext.dialect.ast.queries import Select
from sqlext.dialect.emit import nodes
from sqlext.dialect.emit.checks import can_finish
from sqlext.dialect.emit.printing import emit_text, trigger_text
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.source import SourceText

WINDOWED = (
    "SELECT window_start, window_end, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
    "INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, k"
)
GROUPED = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
SAME = object()


@dataclass(frozen=True)
class Example:
    """A script of EMIT.md section 7, and its clauses in our own spelling, the outermost first."""

    number: int
    text: str
    printed: tuple[str, ...] | object


def example(number: int, text: str, *printed: str) -> Example:
    """Return an example; one that is in our own spelling is printed as it is."""
    return Example(number, text.replace("<windowed>", WINDOWED).replace("<grouped>", GROUPED), printed or SAME)


DAY = "INTERVAL '1' DAY"
EXAMPLES = [
    example(1, "<windowed> EMIT AFTER WATERMARK"),
    example(
        2,
        "<windowed> EMIT AFTER WATERMARK EARLY EVERY INTERVAL '30' SECOND LATE EVERY ROW ACCUMULATING "
        "ALLOW LATENESS INTERVAL '1' HOUR",
    ),
    example(3, "<windowed> EMIT AFTER WATERMARK EARLY EVERY 100 ROWS DISCARDING"),
    example(4, "<windowed> EMIT CHANGELOG AFTER WATERMARK EARLY EVERY INTERVAL '1' MINUTE RETRACTING"),
    example(5, "<grouped> EMIT EVERY 3 ROWS DISCARDING"),
    example(6, "<grouped> EMIT EVERY 3 ROWS ACCUMULATING"),
    example(7, "<grouped> EMIT EVERY AT LEAST 3 ROWS DISCARDING"),
    example(8, "<grouped> EMIT ONCE AFTER 3 ROWS"),
    example(9, "<windowed> EMIT AFTER DELAY INTERVAL '10' SECOND"),
    example(
        10,
        "<windowed> EMIT AFTER PROCESSING TIME DELAY INTERVAL '10' SECOND ALIGNED TO INTERVAL '1' MINUTE "
        "OFFSET INTERVAL '15' SECOND",
        "EMIT AFTER DELAY INTERVAL '10' SECOND ALIGNED TO INTERVAL '1' MINUTE OFFSET INTERVAL '15' SECOND",
    ),
    example(11, "<windowed> EMIT EVERY INTERVAL '1' MINUTE ALIGNED"),
    example(12, "<windowed> EMIT EVERY INTERVAL '1' MINUTE OF EVENT TIME"),
    example(13, "<windowed> EMIT AFTER 1000 ROWS OR AFTER DELAY INTERVAL '5' SECOND DISCARDING"),
    example(
        14,
        "<windowed> EMIT EVERY 1000 ROWS OR EVERY INTERVAL '5' SECOND DISCARDING",
        "EMIT REPEAT (AFTER 1000 ROWS OR AFTER DELAY INTERVAL '5' SECOND) DISCARDING",
    ),
    example(15, "<windowed> EMIT ALL OF (AFTER 100 ROWS, AFTER WATERMARK)", "EMIT AFTER 100 ROWS AND AFTER WATERMARK"),
    example(16, "<windowed> EMIT AFTER 2 ROWS THEN AFTER 3 ROWS THEN EVERY ROW"),
    example(
        17,
        "<windowed> EMIT (EVERY INTERVAL '10' SECOND UNTIL AFTER WATERMARK)",
        "EMIT EVERY INTERVAL '10' SECOND UNTIL AFTER WATERMARK",
    ),
    example(
        18,
        "<windowed> EMIT REPEAT (EACH OF (AFTER 1 ROW, AFTER 10 ROWS, AFTER 100 ROWS) UNTIL "
        "AFTER DELAY INTERVAL '1' MINUTE) DISCARDING",
        "EMIT REPEAT (AFTER 1 ROW THEN AFTER 10 ROWS THEN AFTER 100 ROWS UNTIL AFTER DELAY INTERVAL '1' MINUTE) "
        "DISCARDING",
    ),
    example(
        19,
        "<windowed> EMIT AFTER WATERMARK EARLY (EVERY 500 ROWS OR AFTER DELAY INTERVAL '10' SECOND) "
        "LATE AFTER DELAY INTERVAL '1' MINUTE ALLOW LATENESS INTERVAL '1' DAY",
        "EMIT AFTER WATERMARK EARLY REPEAT (AFTER 500 ROWS OR AFTER DELAY INTERVAL '10' SECOND) "
        "LATE AFTER DELAY INTERVAL '1' MINUTE ALLOW LATENESS INTERVAL '1' DAY",
    ),
    example(20, "<grouped> EMIT EVERY 100 ROWS TIMEOUT INTERVAL '5' SECOND SINCE LAST ROW DISCARDING"),
    example(21, "<grouped> EMIT AFTER ABS DELTA OF (price) > 2.5"),
    example(22, "<grouped> EMIT WHEN (SUM(amount) > 1000) DISCARDING"),
    example(
        23,
        "<grouped> EMIT CASE WHEN kind = 'flush' THEN FIRE AND PURGE WHEN kind = 'reset' THEN PURGE ELSE CONTINUE END",
        "EMIT CASE WHEN kind = 'flush' THEN FIRE AND PURGE WHEN kind = 'reset' THEN PURGE END",
    ),
    example(24, "<grouped> EMIT USING TRIGGER my_trigger(10, 'x') DISCARDING"),
    example(25, "<windowed> EMIT ON WINDOW CLOSE ALLOW LATENESS INTERVAL '2' HOUR"),
    example(26, "<windowed> EMIT AFTER WATERMARK ALLOW LATENESS INTERVAL '5' MINUTE LATE DATA TO late_rows"),
    example(27, "<grouped> EMIT EVERY 2 ROWS KEEP LAST 4 ROWS"),
    example(28, "<grouped> EMIT EVERY 10 ROWS KEEP LAST INTERVAL '1' HOUR AFTER FIRING"),
    example(
        29,
        "<windowed> EMIT AFTER WATERMARK KEEP DELTA OF (price) < 2 BEFORE FIRING",
        "EMIT AFTER WATERMARK KEEP DELTA OF (price) < 2",
    ),
    example(
        30,
        "<windowed> EMIT AFTER WATERMARK EARLY EVERY ROW DISCARDING ALLOW LATENESS INTERVAL '1' HOUR "
        "ON TIME PANE ALWAYS FINAL PANE ALWAYS PANE TIMESTAMP LATEST",
    ),
    example(31, "CREATE VIEW v AS SELECT k, COUNT(*) AS c FROM t GROUP BY k EMIT EVERY 10 ROWS"),
    example(
        32,
        "INSERT INTO sink SELECT k, COUNT(*) FROM t GROUP BY k HAVING COUNT(*) > 1 ORDER BY k EMIT ON UPDATE",
        "EMIT EVERY ROW",
    ),
    example(
        33,
        "SELECT k, MAX(s) FROM (SELECT k, w, SUM(v) AS s FROM t GROUP BY k, w EMIT EVERY 10 ROWS DISCARDING) x "
        "GROUP BY k EMIT CONTINUE",
        "EMIT CONTINUE",
        "EMIT EVERY 10 ROWS DISCARDING",
    ),
    example(
        34,
        "WITH a AS (SELECT k, SUM(v) s FROM t GROUP BY k EMIT EVERY INTERVAL '1' MINUTE) SELECT * FROM a",
        "EMIT EVERY INTERVAL '1' MINUTE",
    ),
    example(
        35,
        "(SELECT k, SUM(v) FROM a GROUP BY k EMIT CHANGES) UNION ALL (SELECT k, SUM(v) FROM b GROUP BY k EMIT FINAL)",
        "EMIT EVERY ROW",
        "EMIT ON WINDOW CLOSE",
    ),
    example(
        36,
        "INSERT INTO sink <windowed> EMIT WITH DELAY '1'MINUTE BEFORE WATERMARK, WITHOUT DELAY AFTER WATERMARK "
        "ALLOW LATENESS INTERVAL '1' DAY",
        f"EMIT AFTER WATERMARK EARLY EVERY INTERVAL '1' MINUTE LATE EVERY ROW ALLOW LATENESS {DAY}",
    ),
    example(
        37,
        "<windowed> EMIT WITH DELAY '1' MINUTE BEFORE WATERMARK",
        "EMIT AFTER WATERMARK EARLY EVERY INTERVAL '1' MINUTE LATE NEVER",
    ),
    example(38, "SELECT k, COUNT(*) FROM t GROUP BY k EMIT CHANGES LIMIT 5", "EMIT EVERY ROW"),
    example(
        39,
        "<windowed> EMIT FINAL GRACE PERIOD 10 MINUTES",
        "EMIT ON WINDOW CLOSE ALLOW LATENESS INTERVAL '10' MINUTE",
    ),
    example(40, "CREATE MATERIALIZED VIEW mv AS <windowed> EMIT ON WINDOW CLOSE"),
    example(
        41,
        "<windowed> EMIT AFTER WINDOW CLOSE WITH DELAY 2s AND TIMEOUT 5s",
        "EMIT ON WINDOW CLOSE WITH DELAY INTERVAL '2' SECOND AND TIMEOUT INTERVAL '5' SECOND",
    ),
    example(42, "<windowed> EMIT AFTER WATERMARK AND DELAY 2s", "EMIT AFTER WATERMARK WITH DELAY INTERVAL '2' SECOND"),
    example(43, "<grouped> EMIT PERIODIC 5s REPEAT", "EMIT EVERY INTERVAL '5' SECOND REPEAT"),
    example(44, "<grouped> EMIT CHANGELOG ON UPDATE WITH BATCH 1s", "EMIT CHANGELOG EVERY INTERVAL '1' SECOND"),
    example(45, "<grouped> EMIT LAST 1h AND PERIODIC 5s", "EMIT EVERY INTERVAL '5' SECOND KEEP LAST INTERVAL '1' HOUR"),
    example(46, "<grouped> EMIT PER EVENT", "EMIT EVERY 1 ROW"),
    example(
        47,
        "SELECT trace_id, MIN(st) FROM o GROUP BY trace_id EMIT AFTER KEY EXPIRE IDENTIFIED BY end_time "
        "WITH MAXSPAN 500ms AND TIMEOUT 2s",
        "EMIT REPEAT (WHEN (MAX(end_time) - MIN(end_time) > INTERVAL '500' MILLISECOND) "
        "OR AFTER IDLE INTERVAL '2' SECOND) DISCARDING",
    ),
    example(
        48, "<windowed> EMIT STREAM AFTER DELAY INTERVAL '6' MINUTES", "EMIT STREAM AFTER DELAY INTERVAL '6' MINUTE"
    ),
    example(
        49,
        "SELECT 'EMIT CHANGES' AS emit, t.emit, emit, emit + 1 FROM t AS emit WHERE emit > 1 "
        "GROUP BY emit, t.emit, emit /* EMIT FINAL */ ORDER BY emit EMIT EVERY ROW -- EMIT FINAL",
        "EMIT EVERY ROW",
    ),
    Example(50, "SELECT emit.a FROM t emit JOIN u ON emit.id = u.id", ()),
]


def emit_of(text: str, mode: str = "spark") -> nodes.EmitClause:
    """Return the clause of ``SELECT k FROM t GROUP BY k`` and a text."""
    body = parse_query_text(f"SELECT k FROM t GROUP BY k {text}", mode).body
    assert isinstance(body, Select)
    assert body.emit is not None
    return body.emit


@pytest.mark.parametrize("mode", ["spark", "flink"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: str(e.number))
def test_examples(example: Example, mode: str, shape: Callable[[Any], str]) -> None:
    source = SourceText.of(example.text)
    found = [n.emit for s in parse_script(source, mode) for n in s.walk() if isinstance(n, Select) and n.emit]
    printed = tuple(map(emit_text, found))
    if example.printed is SAME:
        assert printed == (example.text[example.text.index("EMIT ") :],)
    else:
        assert printed == example.printed
    for clause in found:
        assert shape(emit_of(emit_text(clause), mode)) == shape(clause)
        assert clause.span.text.startswith("EMIT ")


FIVE = "Delay(5000)"
NODES = {
    "AFTER 5 ROWS": "AfterCount(5)",
    "AFTER AT LEAST 5 ROWS": "AfterCount(5, at_least=True)",
    "EVERY 5 ROWS": "Repeat(AfterCount(5))",
    "EVERY ROW": "EveryRow()",
    "EVERY 1 ROW": "Repeat(AfterCount(1))",
    "AFTER DELAY 5s": f"AfterDelay([{FIVE}])",
    "AFTER PROCESSING TIME": "AfterDelay([])",
    "AFTER PROCESSING TIME ALIGNED TO 5s DELAY 5s": f"AfterDelay([Align(5000), {FIVE}])",
    "AFTER DELAY 5s ALIGNED TO 1m OFFSET '15' SECONDS": f"AfterDelay([{FIVE}, Align(60000, offset=15000)])",
    "EVERY 5s": f"Repeat(AfterDelay([{FIVE}]))",
    "EVERY 5s OF PROCESSING TIME DELAY 5s": f"Repeat(AfterDelay([{FIVE}, {FIVE}]))",
    "EVERY 5s REPEAT": "EveryPeriod(5000)",
    "EVERY 5s OF PROCESSING TIME REPEAT": "EveryPeriod(5000)",
    "EVERY 5s ALIGNED TO 1m REPEAT": "EveryPeriod(5000, transforms=[Align(60000)])",
    "EVERY 5s ALIGNED": "EveryAligned(5000)",
    "EVERY 5s ALIGNED REPEAT": "EveryAligned(5000, repeat=True)",
    "EVERY 5s OF EVENT TIME": "EveryEventTime(5000)",
    "EVERY 5s OF EVENT TIME REPEAT": "EveryEventTime(5000, repeat=True)",
    "AFTER IDLE 5s": "AfterIdle(5000)",
    "AFTER DELTA OF (a + 1) > -2.50": "AfterDelta(Binary(+, a, 1), -2.50)",
    "AFTER ABS DELTA OF (a) > 1e3": "AfterDelta(a, 1E+3, absolute=True)",
    "WHEN (COUNT(*) > 1)": "When(Binary(>, Call(COUNT, args=[*]), 1))",
    "CASE WHEN a IS DISTINCT FROM b THEN FIRE ELSE PURGE END": (
        "CaseTrigger([CaseBranch(Binary(IS DISTINCT FROM, a, b), FIRE)], otherwise=PURGE)"
    ),
    "USING TRIGGER f(1, x => 'y')": "UsingTrigger(f, arguments=[1, NamedArgument(x, 'y')])",
    "USING TRIGGER `my f`()": "UsingTrigger(my f)",
    "AFTER WATERMARK EARLY EVERY ROW LATE NEVER": "AfterWatermark(early=EveryRow(), late=Never())",
    "AFTER WATERMARK LATE NEVER EARLY EVERY ROW": "AfterWatermark(early=EveryRow(), late=Never())",
    "AFTER WATERMARK DELAY 5s AND TIMEOUT 1m": "AfterWatermark(delay=5000, timeout=60000)",
    "ON WINDOW CLOSE WITH DELAY 0s": "WindowClose(delay=0)",
    "NEVER": "Never()",
    "NEVER AND AFTER 1 ROW AND AFTER 2 ROWS": "AllOf([Never(), AfterCount(1), AfterCount(2)])",
    "NEVER OR AFTER 1 ROW AND AFTER 2 ROWS": "AnyOf([Never(), AllOf([AfterCount(1), AfterCount(2)])])",
    "(NEVER OR AFTER 1 ROW) AND AFTER 2 ROWS": "AllOf([AnyOf([Never(), AfterCount(1)]), AfterCount(2)])",
    "NEVER THEN NEVER OR AFTER 1 ROW": "EachOf([Never(), AnyOf([Never(), AfterCount(1)])])",
    "NEVER THEN NEVER UNTIL NEVER THEN NEVER": "Until(EachOf([Never(), Never()]), EachOf([Never(), Never()]))",
    "(NEVER UNTIL NEVER) UNTIL NEVER": "Until(Until(Never(), Never()), Never())",
    "NEVER AND NEVER TIMEOUT 5s": "AllOf([Never(), Timeout(Never(), 5000)])",
    "NEVER PURGING TIMEOUT 5s SINCE FIRST ROW KEEPING STATE": "Timeout(Purging(Never()), 5000, keep_state=True)",
    "NEVER TIMEOUT 5s SINCE LAST ROW": "Timeout(Never(), 5000, since_last_row=True)",
    "REPEAT (EVERY 5 ROWS)": "Repeat(AfterCount(5))",
    "EACH OF (EVERY ROW, EVERY 2 ROWS)": "EachOf([EveryRow(), Repeat(AfterCount(2))])",
    "ANY OF (EVERY ROW, AFTER 2 ROWS)": "Repeat(AnyOf([AfterCount(1, at_least=True), AfterCount(2)]))",
    "(EVERY ROW) AND NEVER": "Repeat(AllOf([AfterCount(1, at_least=True), Never()]))",
    "NEVER OR EVERY 5s ALIGNED": "Repeat(AnyOf([Never(), EveryAligned(5000)]))",
    "EVERY 5 ROWS OR EVERY 5s AND NEVER": f"Repeat(AnyOf([AfterCount(5), AllOf([AfterDelay([{FIVE}]), Never()])]))",
    "REPEAT (AFTER 5 ROWS) OR NEVER": "AnyOf([Repeat(AfterCount(5)), Never()])",
    "(AFTER WATERMARK EARLY NEVER) OR NEVER": "AnyOf([AfterWatermark(early=Never()), Never()])",
    "ALL OF (AFTER DELAY 5s, AFTER WATERMARK)": f"AllOf([AfterDelay([{FIVE}]), AfterWatermark()])",
    "DEFAULT": "DefaultTrigger()",
    "CONTINUE": "ContinueTrigger()",
    "TIMEOUT 5s": "AfterIdle(5000, of_query=True)",
}


@pytest.mark.parametrize("text", NODES)
def test_triggers(text: str, shape: Callable[[Any], str]) -> None:
    trigger = emit_of(f"EMIT {text}").trigger
    assert shape(trigger) == NODES[text]
    assert shape(emit_of(f"EMIT {trigger_text(trigger)}").trigger) == NODES[text]


CLAUSES = {
    "EMIT DISCARDING PANES": "DefaultTrigger(), mode=DISCARDING",
    "EMIT DEFAULT RETRACTING": "DefaultTrigger(), mode=RETRACTING",
    "EMIT CHANGELOG": "DefaultTrigger(), output=CHANGELOG",
    "EMIT CHANGELOG ACCUMULATING": None,
    "EMIT STREAM ONCE AFTER 5 ROWS": "AfterCount(5), output=STREAM, once=True",
    "EMIT LATE ROWS INTO a.`b c` ALLOW LATENESS 0 SECONDS": (
        "DefaultTrigger(), lateness=0, late_table=LateTable([a, b c])"
    ),
    "EMIT DROP LATE DATA": "DefaultTrigger(), drop_late=True",
    "EMIT KEEP LAST 5 ROWS AFTER FIRING": "DefaultTrigger(), evictor=KeepRows(5, before=False)",
    "EMIT KEEP LAST 5s BEFORE FIRING": "DefaultTrigger(), evictor=KeepDuration(5000)",
    "EMIT KEEP ABS DELTA OF (a) < 5": "DefaultTrigger(), evictor=KeepDelta(a, 5, absolute=True)",
    "EMIT EVICT USING f('x') AFTER FIRING": "DefaultTrigger(), evictor=EvictUsing(f, arguments=['x'], before=False)",
    "EMIT ON TIME PANE IF NOT EMPTY": "DefaultTrigger(), on_time_pane=IF NOT EMPTY",
    "EMIT FINAL PANE NEVER": "DefaultTrigger(), final_pane=NEVER",
    "EMIT FINAL FINAL PANE NEVER": "WindowClose(), final_pane=NEVER",
    "EMIT FINAL PANE TIMESTAMP END OF WINDOW": "WindowClose(), pane_timestamp=END OF WINDOW",
    "EMIT PANE TIMESTAMP EARLIEST": "DefaultTrigger(), pane_timestamp=EARLIEST",
    "EMIT OPTIONS (deadline = 'after', `LATE_CHECK` = before_merge)": (
        "DefaultTrigger(), options=[[deadline, after], [late_check, before_merge]]"
    ),
}


@pytest.mark.parametrize("text", CLAUSES)
def test_options(text: str, shape: Callable[[Any], str]) -> None:
    if CLAUSES[text] is None:
        with pytest.raises(SqlExtError):
            emit_of(text)
        return
    clause = emit_of(text)
    assert shape(clause) == f"EmitClause({CLAUSES[text]})"
    assert shape(emit_of(emit_text(clause))) == shape(clause)


ALIASES = {
    "WITH DELAY 5s BEFORE WATERMARK": "AFTER WATERMARK EARLY EVERY 5s LATE NEVER",
    "WITHOUT DELAY BEFORE WATERMARK": "AFTER WATERMARK EARLY EVERY ROW LATE NEVER",
    "WITHOUT DELAY AFTER WATERMARK ALLOW LATENESS 1d": "AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS 1d",
    "WITH DELAY '5' SECOND AFTER WATERMARK GRACE PERIOD 1d": "AFTER WATERMARK LATE EVERY 5s ALLOW LATENESS 1d",
    "WITHOUT DELAY AFTER WATERMARK, WITH DELAY 5s BEFORE WATERMARK ALLOW LATENESS 1d": (
        "AFTER WATERMARK EARLY EVERY 5s LATE EVERY ROW ALLOW LATENESS 1d"
    ),
    "WITH DELAY 5s ALLOW LATENESS 1d": "AFTER WATERMARK EARLY EVERY 5s LATE EVERY 5s ALLOW LATENESS 1d",
    "CHANGES": "EVERY ROW",
    "FINAL": "ON WINDOW CLOSE",
    "AFTER WINDOW CLOSE": "ON WINDOW CLOSE",
    "AFTER WATERMARK DELAY 5s": "AFTER WATERMARK WITH DELAY 5s",
    "PERIODIC 5s": "EVERY 5s",
    "PERIODIC 5s REPEAT": "EVERY 5s REPEAT",
    "ON UPDATE": "EVERY ROW",
    "ON UPDATE WITH BATCH 5s": "EVERY 5s",
    "PER EVENT": "EVERY 1 ROWS",
    "PERIODIC 5s ON UPDATE": "EVERY 5s",
    "PERIODIC 5s WITH DELAY 1s": "AFTER WATERMARK WITH DELAY 1s EARLY EVERY 5s LATE NEVER",
    "PERIODIC 5s REPEAT WITH DELAY 1s": "AFTER WATERMARK WITH DELAY 1s EARLY EVERY 5s REPEAT LATE NEVER",
    "PERIODIC 5s REPEAT WITH DELAY 1s AND TIMEOUT 1m": (
        "AFTER WATERMARK WITH DELAY 1s AND TIMEOUT 1m EARLY EVERY 5s REPEAT LATE NEVER"
    ),
    "PERIODIC 5s AND TIMEOUT 1m": "AFTER WATERMARK WITH DELAY 0s AND TIMEOUT 1m EARLY EVERY 5s LATE NEVER",
    "ON UPDATE WITH DELAY 1s": "AFTER WATERMARK WITH DELAY 1s EARLY EVERY ROW LATE NEVER",
    "ON UPDATE AND TIMEOUT 1m": "AFTER WATERMARK AND TIMEOUT 1m EARLY EVERY ROW LATE NEVER",
    "ON UPDATE WITH BATCH 5s WITH DELAY 1s": "AFTER WATERMARK WITH DELAY 1s EARLY EVERY 5s LATE NEVER",
    "ON UPDATE WITH BATCH 5s WITH DELAY 1s AND TIMEOUT 1m": (
        "AFTER WATERMARK WITH DELAY 1s AND TIMEOUT 1m EARLY EVERY 5s LATE NEVER"
    ),
    "PER EVENT WITH DELAY 1s": "AFTER WATERMARK WITH DELAY 1s EARLY EVERY 1 ROWS LATE NEVER",
    "AFTER WINDOW CLOSE AND TIMEOUT 1m": "ON WINDOW CLOSE WITH DELAY 0s AND TIMEOUT 1m",
    "LAST 1h": "EVERY 2s KEEP LAST 1h",
    "LAST 1h ON PROCTIME AND PERIODIC 5s": "EVERY 5s KEEP LAST 1h",
    "AFTER KEY EXPIRE IDENTIFIED BY a.b WITH ONLY MAXSPAN 1m": (
        "REPEAT (WHEN (MAX(a.b) - MIN(a.b) > INTERVAL '1' MINUTE)) DISCARDING"
    ),
    "AFTER KEY EXPIRE IDENTIFIED BY `a b` WITH MAXSPAN 1m AND TIMEOUT 5s DISCARDING": (
        "REPEAT (WHEN (MAX(`a b`) - MIN(`a b`) > INTERVAL '1' MINUTE) OR AFTER IDLE 5s) DISCARDING"
    ),
}


@pytest.mark.parametrize("text", ALIASES)
def test_aliases_are_read_into_the_same_nodes(text: str, shape: Callable[[Any], str]) -> None:
    assert shape(emit_of(f"EMIT {text}")) == shape(emit_of(f"EMIT {ALIASES[text]}"))


DURATIONS = {
    "INTERVAL '5' SECOND": 5_000,
    "INTERVAL 5 SECONDS": 5_000,
    "INTERVAL '5 seconds'": 5_000,
    "'5' MINUTE": 300_000,
    "'1'MINUTE": 60_000,
    "5 MINUTES": 300_000,
    "5s": 5_000,
    "5S": 5_000,
    "500ms": 500,
    "1d": 86_400_000,
    "2w": 1_209_600_000,
    "3h": 10_800_000,
    "4m": 240_000,
    "1.5 SECONDS": 1_500,
    "0.5h": 1_800_000,
    "INTERVAL '0.250' SECOND": 250,
    "5 MILLISECONDS": 5,
    "+5s": 5_000,
    "INTERVAL + '5' WEEKS": 3_024_000_000,
}


@pytest.mark.parametrize("text", DURATIONS)
@pytest.mark.parametrize("mode", ["spark", "flink"])
def test_durations(text: str, mode: str) -> None:
    trigger = emit_of(f"EMIT AFTER IDLE {text} DISCARDING", mode).trigger
    assert isinstance(trigger, nodes.AfterIdle)
    assert trigger.ms == DURATIONS[text]


@pytest.mark.parametrize(
    ("text", "finishes"),
    [
        ("AFTER 5 ROWS", True),
        ("AFTER WATERMARK EARLY EVERY ROW", True),
        ("AFTER WATERMARK LATE NEVER", False),
        ("EVERY ROW", False),
        ("NEVER", False),
        ("AFTER 5 ROWS OR NEVER", True),
        ("AFTER 5 ROWS AND NEVER", False),
        ("AFTER 5 ROWS THEN EVERY ROW", False),
        ("EVERY ROW UNTIL AFTER 5 ROWS", True),
        ("AFTER 5 ROWS TIMEOUT 5s PURGING", True),
        ("USING TRIGGER f()", False),
        ("ON WINDOW CLOSE", False),
    ],
)
def test_what_can_finish(text: str, finishes: bool) -> None:
    assert can_finish(emit_of(f"EMIT {text}").trigger) is finishes


def test_fields_know_where_they_were_written() -> None:
    clause = emit_of("EMIT ONCE AFTER 5 ROWS\n ALLOW LATENESS 5s DISCARDING PANES")
    assert clause.place("once").text == "ONCE"
    assert clause.place("lateness").text == "ALLOW LATENESS 5s"
    assert clause.place("mode").text == "DISCARDING PANES"
    assert clause.place("evictor") is clause.span
    assert hash(clause) == hash(clause)


def test_options_of_engines_have_our_value_by_default() -> None:
    clause = emit_of("EMIT OPTIONS (window_end = 'last_ms')")
    assert (clause.option("window_end"), clause.option("deadline")) == ("last_ms", "at")


def test_spans_are_of_the_user_s_text() -> None:
    text = "SELECT 1 EMIT /* a */ (AFTER 5 ROWS OR  EVERY 5 s)\n AND WHEN ( a > 1 ) LIMIT 3"
    body = parse_query_text(text).body
    assert isinstance(body, Select)
    assert body.emit is not None
    assert body.emit.span.text == text[9 : text.index(" LIMIT")]
    assert [node.span.text for node in body.emit.trigger.walk()][1:] == [
        "(AFTER 5 ROWS OR  EVERY 5 s)\n AND WHEN ( a > 1 )",
        "AFTER 5 ROWS OR  EVERY 5 s",
        "AFTER 5 ROWS",
        "EVERY 5 s",
        "5 s",
        "WHEN ( a > 1 )",
        "a > 1",
        "a",
        "1",
    ]


def test_what_an_alias_stands_for_has_its_place() -> None:
    text = "SELECT k\nFROM t EMIT AFTER KEY EXPIRE IDENTIFIED BY c WITH MAXSPAN 5s"
    body = parse_query_text(text).body
    assert isinstance(body, Select)
    assert body.emit is not None
    places = {node.span.position[:3] for node in body.emit.trigger.walk()}
    assert places == {("<sql>", 2, 13)}
    with pytest.raises(SqlExtError) as caught:
        parse_query_text(text.replace("BY c", "BY select"))
    assert (caught.value.code, caught.value.line, caught.value.column) == ("PARSE-002", 2, 13)
