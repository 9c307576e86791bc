"""What the parser of EMIT refuses: every row of the specification's table, and where the caret stands."""

from __future__ import annotations

import pytest

from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError

# ^ marks the column; it is taken out. Everything stands after a grouped SELECT.
EMPTY = "EMIT must be followed by a trigger, a mode or an option (or quote it as `emit` if it is an alias)"
A_TRIGGER = (
    "expected a trigger (AFTER, EVERY, ON WINDOW CLOSE, NEVER, WHEN, CASE, REPEAT, ALL OF, ANY OF, EACH OF, "
    "USING TRIGGER) but found"
)
UNITS = "(SECOND, MINUTE, HOUR, DAY, WEEK, MILLISECOND)"
END = "the end of the clause"
BESIDE = "a composite early or late trigger must itself be in parentheses: EARLY (a OR b)"
AMBIGUOUS = (
    "AFTER DELAY ... AND AFTER WATERMARK is ambiguous. Write AFTER WATERMARK EARLY EVERY <delay> (early results and a "
    "final one), or ALL OF (AFTER DELAY ..., AFTER WATERMARK) (one result when both hold)"
)
NO_LATENESS = "needs ALLOW LATENESS greater than zero; without it no row arrives after the watermark"
ALONE = "ON WINDOW CLOSE and FINAL cannot be combined with other triggers; use AFTER WATERMARK"
ENDLESS = "ONCE has no effect on a trigger that never finishes"
MODES = "ACCUMULATING / DISCARDING / RETRACTING is given twice"
AN_OPTION = "expected an option of EMIT or the end of the clause, found"
LATE_IN_GENERAL = f"LATE {NO_LATENESS} (LATE NEVER is always allowed)"

TABLE = {
    "^EMIT SOMETIMES": "EMIT-001: EMIT cannot be followed by SOMETIMES (quote it as `emit` if it is a name)",
    "^EMIT": f"EMIT-001: {EMPTY}",
    "EMIT FILL^": f"EMIT-002: expected FOR after FILL, found {END}",
    "EMIT FILL FOR EACH KEY^": f"EMIT-002: expected OF after FILL FOR EACH KEY, found {END}",
    "EMIT FILL FOR ^0s": "EMIT-004: FILL FOR must be greater than zero",
    "EMIT FILL FOR 1h WITH (a = LAST, ^A = 0)": "EMIT-019: `A` is filled twice",
    "EMIT FILL FOR 1h ^FILL FOR 2h": "EMIT-019: FILL is given twice",
    "EMIT FILL FOR 1h WITH (a = ^b + 1)": (
        "EMIT-029: a window without rows has no rows of which `b + 1` could be computed"
    ),
    "EMIT AFTER^": (
        "EMIT-002: AFTER must be followed by a number of ROWS, a duration, WATERMARK, DELAY, IDLE, DELTA OF or "
        f"PROCESSING TIME, found {END}"
    ),
    "EMIT EVERY^": f"EMIT-002: EVERY must be followed by a number of ROWS, a duration, ROW, found {END}",
    "EMIT AFTER ^5 SECONDS": (
        "EMIT-002: AFTER <duration> is not a trigger; write AFTER DELAY 5 (processing time) or AFTER WATERMARK"
    ),
    "EMIT EVERY 3^": f"EMIT-002: expected ROWS after 3, found {END}",
    "EMIT AFTER WATERMARK EARLY^": f"EMIT-002: {A_TRIGGER} {END}",
    "EMIT EVERY INTERVAL '5'^": f"EMIT-003: EVERY needs a time unit {UNITS} after 5",
    "EMIT AFTER DELAY ^'soon'": "EMIT-003: cannot read the duration 'soon' of AFTER DELAY",
    "EMIT EVERY INTERVAL '1' ^MONTH": ("EMIT-003: EVERY: months and years have no fixed length; use days or smaller"),
    "EMIT EVERY ^INTERVAL '0' SECOND": "EMIT-004: EVERY must be greater than zero",
    "EMIT AFTER DELAY ^INTERVAL '-5' SECOND": "EMIT-004: AFTER DELAY must not be negative",
    "EMIT EVERY ^0 ROWS": "EMIT-005: EVERY must be a whole number of at least 1, not 0",
    "EMIT EVERY ^-3 ROWS": "EMIT-005: EVERY must be a whole number of at least 1, not -3",
    "EMIT EVERY ^2.5 ROWS": "EMIT-005: EVERY must be a whole number of at least 1, not 2.5",
    "EMIT EVERY 2 ROWS UNTIL AFTER 5 ROWS ^UNTIL AFTER WATERMARK": (
        "EMIT-010: UNTIL cannot be chained; use parentheses"
    ),
    "EMIT AFTER WATERMARK EARLY AFTER 2 ROWS ^OR AFTER DELAY 5s": (
        f"EMIT-011: AFTER WATERMARK with EARLY or LATE must be in parentheses before OR; {BESIDE}"
    ),
    "EMIT AFTER DELAY INTERVAL '6' MINUTES ^AND AFTER WATERMARK": f"EMIT-012: {AMBIGUOUS}",
    "EMIT ^ALL OF (AFTER 5 ROWS)": "EMIT-013: ALL OF, ANY OF and EACH OF need at least two triggers",
    "EMIT AFTER WATERMARK EARLY (^AFTER WATERMARK)": (
        "EMIT-014: EARLY cannot contain AFTER WATERMARK or ON WINDOW CLOSE"
    ),
    "EMIT AFTER WATERMARK EARLY EVERY ROW ^EARLY EVERY 5s": "EMIT-015: EARLY is given twice",
    "EMIT CASE WHEN a THEN ^EMITROW END": (
        "EMIT-016: a CASE trigger yields FIRE, PURGE, FIRE AND PURGE or CONTINUE, not EMITROW"
    ),
    "EMIT ^ONCE EVERY 5 ROWS": f"EMIT-017: {ENDLESS}",
    "EMIT WITH DELAY '1' MINUTE BEFORE WATERMARK, ^WITHOUT DELAY BEFORE WATERMARK": (
        "EMIT-018: two policies are given for BEFORE WATERMARK"
    ),
    "EMIT AFTER WATERMARK ACCUMULATING ^DISCARDING": f"EMIT-019: {MODES}",
    "EMIT AFTER WATERMARK ALLOW LATENESS 5s ^ALLOW LATENESS 6s": "EMIT-019: ALLOW LATENESS is given twice",
    "EMIT EVERY 2 ROWS KEEP LAST 4 ROWS ^RETRACTING": "EMIT-020: RETRACTING cannot be used with KEEP or EVICT",
    "EMIT AFTER WATERMARK ^LATE EVERY ROW": f"EMIT-021: {LATE_IN_GENERAL}",
    "EMIT ^WITHOUT DELAY AFTER WATERMARK": f"EMIT-021: an AFTER WATERMARK policy {NO_LATENESS}",
    "EMIT ^ON WINDOW CLOSE OR AFTER 5 ROWS": f"EMIT-022: {ALONE}",
    "EMIT CHANGES ^GROUP BY k": (
        "EMIT-023: GROUP BY comes after EMIT; EMIT must be the last clause of its SELECT (only LIMIT may follow)"
    ),
    "EMIT CHANGES ^EMIT FINAL": "EMIT-024: a SELECT has at most one EMIT clause",
    "UNION ALL SELECT k, SUM(v) FROM b GROUP BY k ^EMIT CHANGES": (
        "EMIT-025: EMIT after UNION is ambiguous: put it inside the parenthesised branch it belongs to"
    ),
    "^EMIT CHANGES UNION ALL SELECT 1, 2": (
        "EMIT-025: EMIT before UNION: put the SELECT that carries EMIT in parentheses"
    ),
    "EMIT PERIODIC 5s ^SETTINGS x=1": (
        "EMIT-026: SETTINGS is not part of this dialect; use OPTIONS (...) in EMIT or WITH (...) on the table"
    ),
    "EMIT CHANGELOG EVERY ROW ^DISCARDING": "EMIT-027: CHANGELOG output needs RETRACTING panes, not DISCARDING",
    "EMIT ^ONCE EVERY 5 ROWS OR EVERY 5s": f"EMIT-017: {ENDLESS}",
}

MORE = {
    "EMIT STREAM^": "EMIT-001: EMIT STREAM must be followed by a trigger, a mode or an option",
    "EMIT CHANGELOG ^AFTRE WATERMARK": "EMIT-001: EMIT CHANGELOG cannot be followed by AFTRE",
    "EMIT ONCE ^CHANGES": f"EMIT-002: {A_TRIGGER} `CHANGES`",
    "EMIT (AFTER 5 ROWS OR ^)": f"EMIT-002: {A_TRIGGER} `)`",
    "EMIT (AFTER 5 ROWS^": f"EMIT-002: expected ), found {END}",
    "EMIT (AFTER 5 ROWS ^LIMIT 5": f"EMIT-002: expected ), found {END}",
    "EMIT ALL ^ROWS": "EMIT-002: expected OF after ALL, found `ROWS`",
    "EMIT PER ^ROW": "EMIT-002: expected EVENT after PER, found `ROW`",
    "EMIT EVERY AT LEAST ^ROWS": "EMIT-002: EVERY AT LEAST must be followed by a number of ROWS, found `ROWS`",
    "EMIT EVERY 3 ^RWOS": "EMIT-002: expected ROWS after 3, found `RWOS`",
    "EMIT WHEN ^a > 1": "EMIT-002: WHEN must be followed by a condition in parentheses, found `a`",
    "EMIT AFTER DELTA OF (a) ^< 5": "EMIT-002: expected > after AFTER DELTA OF (...), found `<`",
    "EMIT AFTER DELTA OF (a) > ^x": "EMIT-002: > must be followed by a number, found `x`",
    "EMIT AFTER DELAY^": f"EMIT-002: AFTER DELAY must be followed by a duration, found {END}",
    "EMIT CASE WHEN a ^FIRE END": "EMIT-002: expected THEN after the condition, found `FIRE`",
    "EMIT CASE WHEN a THEN FIRE^": f"EMIT-002: expected WHEN, ELSE or END of CASE, found {END}",
    "EMIT CASE ^ELSE FIRE END": "EMIT-002: expected WHEN after CASE, found `ELSE`",
    "EMIT AFTER WATERMARK ALLOW LATENESS 1d LATE ^EVERY ROW": (
        "EMIT-002: LATE must be followed by DATA TO or ROWS TO, found `EVERY`"
    ),
    "EMIT AFTER 5 ROWS ^DISCADRING": f"EMIT-002: {AN_OPTION} `DISCADRING`",
    "EMIT CHANGES ^OR AFTER 5 ROWS": f"EMIT-002: {AN_OPTION} `OR`",
    "EMIT AFTER KEY EXPIRE ^WITH MAXSPAN 5s": (
        "EMIT-002: AFTER KEY EXPIRE must be followed by IDENTIFIED BY and a column, found `WITH`"
    ),
    "EMIT LATE DATA TO^": f"EMIT-002: LATE DATA TO must be followed by a table's name, found {END}",
    "EMIT EVERY ^'5 parsecs'": "EMIT-003: cannot read the duration '5 parsecs' of EVERY",
    "EMIT EVERY 5^M": "EMIT-003: EVERY: 5M may be minutes or months; write 5m",
    "EMIT EVERY 5 ^MICROSECONDS": "EMIT-003: EVERY: the smallest unit is the millisecond",
    "EMIT EVERY ^1.5ms": "EMIT-003: EVERY: 1.5ms is not a whole number of milliseconds",
    "EMIT EVERY ^9999999999999999999 DAYS": "EMIT-003: EVERY: 9999999999999999999 DAYS is too long",
    f"EMIT EVERY ^{'9' * 6000} DAYS": f"EMIT-003: cannot read the duration {'9' * 6000} of EVERY",
    "EMIT KEEP LAST ^-5s": "EMIT-004: KEEP LAST must be greater than zero",
    "EMIT KEEP LAST ^0 ROWS": "EMIT-005: KEEP LAST must be a whole number of at least 1, not 0",
    "EMIT EVERY ^9223372036854775808 ROWS": (
        "EMIT-005: EVERY must be at most 9223372036854775807, not 9223372036854775808"
    ),
    f"EMIT EVERY ^{'9' * 6000} ROWS": f"EMIT-005: EVERY must be at most 9223372036854775807, not {'9' * 6000}",
    "EMIT NEVER OR ^AFTER WATERMARK EARLY EVERY ROW": (
        f"EMIT-011: AFTER WATERMARK with EARLY or LATE must be in parentheses after OR; {BESIDE}"
    ),
    "EMIT AFTER WATERMARK EARLY EVERY ROW ^UNTIL NEVER": (
        f"EMIT-011: AFTER WATERMARK with EARLY or LATE must be in parentheses before UNTIL; {BESIDE}"
    ),
    "EMIT AFTER WATERMARK ^AND EVERY 5s": f"EMIT-012: {AMBIGUOUS}",
    "EMIT AFTER WATERMARK LATE (NEVER OR ^ON WINDOW CLOSE)": (
        "EMIT-014: LATE cannot contain AFTER WATERMARK or ON WINDOW CLOSE"
    ),
    "EMIT CASE WHEN a THEN^": (f"EMIT-016: a CASE trigger yields FIRE, PURGE, FIRE AND PURGE or CONTINUE, not {END}"),
    "EMIT ^ONCE ON WINDOW CLOSE": f"EMIT-017: {ENDLESS}",
    "EMIT WITH DELAY 5s, ^WITH DELAY 6s AFTER WATERMARK": "EMIT-018: two policies are given for AFTER WATERMARK",
    "EMIT DROP LATE DATA ^LATE DATA TO x": "EMIT-019: LATE DATA TO / DROP LATE DATA is given twice",
    "EMIT LAST 5s ^KEEP LAST 5 ROWS": "EMIT-019: KEEP / EVICT is given twice",
    "EMIT OPTIONS (deadline = 'at', ^deadline = 'after')": "EMIT-019: the option `deadline` is given twice",
    "EMIT ^CHANGELOG EVERY ROW KEEP LAST 5 ROWS": "EMIT-020: RETRACTING cannot be used with KEEP or EVICT",
    "EMIT ^WITH DELAY 5s": f"EMIT-021: an AFTER WATERMARK policy {NO_LATENESS}",
    "EMIT AFTER WATERMARK ^LATE EVERY ROW ALLOW LATENESS 0s": f"EMIT-021: {LATE_IN_GENERAL}",
    "EMIT ^FINAL OR AFTER 5 ROWS": f"EMIT-022: {ALONE}",
    "EMIT REPEAT (^ON WINDOW CLOSE)": f"EMIT-022: {ALONE}",
    "EMIT CHANGES ^WINDOW w AS (ORDER BY k)": (
        "EMIT-023: WINDOW comes after EMIT; EMIT must be the last clause of its SELECT (only LIMIT may follow)"
    ),
    "EMIT CHANGELOG ^AFTER KEY EXPIRE IDENTIFIED BY c WITH MAXSPAN 5s": (
        "EMIT-027: CHANGELOG output needs RETRACTING panes, not DISCARDING"
    ),
    "EMIT OPTIONS (^deadlnie = 'at')": "EMIT-028: EMIT has no option `deadlnie`",
    "EMIT OPTIONS (deadline = ^'later')": "EMIT-028: the option `deadline` must be 'at' or 'after', not 'later'",
    "EMIT WHEN (a > ^) LIMIT 5": "PARSE-002: expected an expression, found `)`",
    "EMIT EVERY ROW ^SORT BY k": "PARSE-004: Spark's SORT BY is not part of this dialect",
}

HINTS = {
    "EMIT EVERY 3 RWOS": "did you mean ROWS?",
    "EMIT AFTER 5 ROWS DISCADRING": "did you mean DISCARDING?",
    "EMIT CHANGELOG AFTRE WATERMARK": "did you mean AFTER or LATE?",
    "EMIT AFTR WATERMARK": "did you mean AFTER?",
    "EMIT EARLY": "EARLY stands behind AFTER WATERMARK: EMIT AFTER WATERMARK EARLY EVERY 100 ROWS",
    "EMIT (EVRY ROW)": "did you mean EVERY or NEVER?",
    "EMIT AFTER WATERMRK": "did you mean WATERMARK?",
    "EMIT AFTER 5 SECONDS": "write AFTER DELAY 5 SECONDS",
    "EMIT OPTIONS (deadlnie = 'at')": "did you mean `deadline`?",
    "EMIT OPTIONS (deadline = 'affter')": "did you mean `after`?",
    "EMIT OPTIONS (x = 'at')": (
        "the options of EMIT are deadline, window_end, late_check, session_gap, missed_firings, early_composite"
    ),
}


def refusal(text: str) -> SqlExtError:
    with pytest.raises(SqlExtError) as caught:
        parse_query_text(text)
    return caught.value


@pytest.mark.parametrize("marked", [*TABLE, *MORE], ids=lambda text: text[:80])
@pytest.mark.parametrize("end", ["", " ", ";"])
def test_refusals(marked: str, end: str) -> None:
    start = "SELECT k, SUM(v) FROM a GROUP BY k "
    error = refusal(start + marked.replace("^", "") + end)
    assert f"{error.code}: {error.message}" == {**TABLE, **MORE}[marked]
    column = len(start) + marked.index("^") + 1
    at_end = marked.endswith("^")
    assert error.column == column + (end == " " and at_end)


def test_a_clause_without_anything_in_parentheses() -> None:
    error = refusal("(SELECT k FROM t GROUP BY k EMIT)")
    assert (error.code, error.message, error.column) == ("EMIT-001", EMPTY, 29)


@pytest.mark.parametrize("text", HINTS)
def test_hints(text: str) -> None:
    assert refusal(f"SELECT 1 {text}").hint == HINTS[text]
