"""SESSION with a maximum length: its two forms, what EXPLAIN says, and what is refused."""

from __future__ import annotations

import json

import pytest

from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.nodes import AssignWindows
from sqlext.plan.windows.session_rows import SessionRows
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

GAP, MOST = "INTERVAL '10' SECOND", "INTERVAL '1' MINUTE"
SOURCE = "TABLE(SESSION(TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), {}))"
TVF = f"SELECT user_name, COUNT(*) AS n FROM {SOURCE} GROUP BY user_name, window_start, window_end"
LEGACY = "SELECT user_name, SESSION_END(ts, {0}) AS e FROM clicks GROUP BY user_name, SESSION(ts, {0})"
NAMED = TVF.replace("TABLE clicks", "DATA => TABLE clicks").replace("DESCRIPTOR", "TIMECOL => DESCRIPTOR")
JOINED = f"FROM {SOURCE.format(f'{GAP}, {MOST}')} AS s JOIN users AS u ON s.user_name = u.user_name"
BATCH = "SET 'execution.runtime-mode' = 'batch';\n"


def _policy(analysis: Analysis, query: str) -> dict[str, object]:
    compiled = analysis.run(query)
    assert compiled is not None
    (operator,) = (s for s in compiled.script.steps if isinstance(s, OperatorView))
    window = json.loads(dict(operator.arguments)["policy"])["policy"]["window"]  # type: ignore[arg-type]
    assert isinstance(window, dict)
    return window


@pytest.mark.parametrize(
    "query",
    [
        TVF.format(f"{GAP}, {MOST}"),
        NAMED.format(f"GAP => {GAP}, MAX_SIZE => {MOST}"),
        NAMED.format(f"MAX_SIZE => {MOST}, GAP => {GAP}"),
        LEGACY.format(f"{GAP}, {MOST}"),
        f"SELECT * FROM {SOURCE.format(f'{GAP}, {MOST}')}",
        BATCH + TVF.format(f"{GAP}, {MOST}"),
        BATCH + f"SELECT * FROM {SOURCE.format(f'{GAP}, {MOST}')}",
    ],
)
def test_the_operator_is_told_the_maximum(flink: Analysis, query: str) -> None:
    assert _policy(flink, query) == {"is": "LimitedSession", "gap": 10_000, "limit": 60_000}


@pytest.mark.parametrize("query", [TVF, LEGACY])
def test_with_a_gap_of_each_row(flink: Analysis, query: str) -> None:
    assert _policy(flink, query.format(f"amount, {MOST}")) == {"is": "LimitedSession", "gap": None, "limit": 60_000}


@pytest.mark.parametrize(
    "query",
    [
        TVF.format(f"{GAP}, {MOST}").replace("COUNT(*)", "MAX(TIMESTAMPDIFF(SECOND, window_start, ts))"),
        f"SELECT s.user_name, COUNT(*) {JOINED} GROUP BY s.user_name, window_start, window_end",
        f"SELECT s.user_name, window_end {JOINED}",
    ],
)
@pytest.mark.parametrize("mode", ["", BATCH])
@pytest.mark.parametrize("most", [MOST, None])
def test_rows_that_something_looks_at_find_their_sessions_first(
    flink: Analysis, query: str, mode: str, most: str | None
) -> None:
    """``session_window`` knows the session of a row when it has grouped them all, so none may stand before a group."""
    compiled = flink.run(mode + (query if most is not None else query.replace(f", {MOST}", "")))
    assert compiled is not None
    if most is None and "GROUP BY" in query and "JOIN" in query:
        return
    assert "session_window" not in str(compiled.script)
    assert any(isinstance(n, SessionRows) for n in walk(compiled.plan))


def test_explain_shows_the_maximum(flink: Analysis) -> None:
    text = as_text(flink.plan(TVF.format(f"{GAP}, {MOST}")))
    assert "SESSION(10000 ms, at most 60000 ms) on ts" in text
    assert "SESSION with a maximum length: Spark has no operator" in text


def test_a_fingerprint_without_a_maximum_is_as_it_was(flink: Analysis) -> None:
    """Checkpoints hold these values."""
    forms = []
    for lengths in (GAP, f"{GAP}, {MOST}"):
        plan = flink.plan(TVF.format(lengths))
        node = next(n for n in walk(plan) if isinstance(n, AssignWindows))
        form = node.window_part()[2]
        assert isinstance(form, tuple)
        forms.append(form)
    without, limited = forms
    assert without[:5] == ("SESSION", 10_000, 0, 0, None)
    assert limited == (*without[:5], 60_000, *without[5:])


@pytest.mark.parametrize("query", [TVF, LEGACY])
@pytest.mark.parametrize(
    ("most", "code"),
    [
        ("INTERVAL '0' SECOND", ("WINDOW-003", "WINDOW-005")),
        ("INTERVAL '-1' MINUTE", ("WINDOW-003", "WINDOW-005")),
        ("'1 minute'", ("WINDOW-003",)),
        ("60000", ("WINDOW-003",)),
        ("amount * INTERVAL '1' SECOND", ("WINDOW-003",)),
        ("INTERVAL '1' MONTH", ("WINDOW-002",)),
        (f"{MOST}, {MOST}", ("WINDOW-001",)),
    ],
)
def test_lengths_that_are_none(flink: Analysis, query: str, most: str, code: tuple[str, ...]) -> None:
    error = flink.refuse(query.format(f"{GAP}, {most}"), code[-1] if query is TVF else code[0])
    assert error.hint


def test_not_by_the_clock(flink: Analysis) -> None:
    flink.refuse(TVF.format(f"{GAP}, {MOST}").replace("(ts)", "(pt)"), "WINDOW-013")
    flink.refuse(LEGACY.format(f"{GAP}, {MOST}").replace("(ts", "(pt"), "WINDOW-013")


def test_the_auxiliary_function_has_the_same_maximum(flink: Analysis) -> None:
    query = LEGACY.replace("SESSION(ts, {0})", "SESSION(ts, {1})")
    flink.refuse(query.format(f"{GAP}, {MOST}", GAP), "WINDOW-007")


@pytest.mark.parametrize(
    "emit",
    [
        "AFTER WATERMARK EARLY EVERY 2 ROWS",
        "EVERY ROW",
        "AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS 1m",
        "ON WINDOW CLOSE ALLOW LATENESS 1m",
        "AFTER WATERMARK KEEP LAST 2 ROWS",
    ],
)
@pytest.mark.parametrize("query", [TVF, TVF.replace("user_name, COUNT", "COUNT").replace("BY user_name, w", "BY w")])
def test_one_result_alone(flink: Analysis, query: str, emit: str) -> None:
    error = flink.refuse(f"{query.format(f'{GAP}, {MOST}')} EMIT {emit}", "EMIT-122")
    assert error.hint


@pytest.mark.parametrize("emit", ["AFTER WATERMARK", "ON WINDOW CLOSE", "AFTER WATERMARK WITH DELAY 3s"])
def test_one_result_may_be_asked_for(flink: Analysis, emit: str) -> None:
    assert flink.plan(f"{TVF.format(f'{GAP}, {MOST}')} EMIT {emit}").streaming
