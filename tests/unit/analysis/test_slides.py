"""SLIDE: how windows that end at each time of a key are planned, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.nodes import AssignWindows, Scan, WindowKind
from sqlext.plan.windows.slides import Slide, SlideRows
from sqlext.rewrite.rules.event_time import place_watermarks
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

S = "TABLE(SLIDE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' MINUTES))"
G = "GROUP BY window_start, window_end"
BATCH = "SET 'execution.runtime-mode' = 'batch';"


def _specification(analysis: Analysis, query: str) -> dict[str, Any]:
    """Return what the operator is told."""
    compiled = analysis.run(query)
    assert compiled is not None
    (operator,) = (s for s in compiled.script.steps if isinstance(s, OperatorView) and s.function == "over")
    return dict(dict(operator.arguments)["specification"])  # type: ignore[call-overload]


@pytest.mark.parametrize("mode", ["", BATCH])
def test_the_operator_of_over_computes_them(flink: Analysis, mode: str) -> None:
    query = f"{mode} SELECT user_name, SUM(amount), COUNT(*), SUM(amount) + 1 FROM {S} {G}, user_name"
    assert _specification(flink, query) == {
        "keys": 1,
        "time": 1,
        "values": (0, 1),
        "calls": (
            ("sum", (2,), ("RANGE", 599_999), False, ()),
            ("count", (), ("RANGE", 599_999), False, ()),
        ),
        "once": True,
    }


def test_columns_are_those_of_windows(flink: Analysis) -> None:
    query = f"SELECT window_start, window_end, window_time, user_name AS u, COUNT(*) AS n, MAX(ts) FROM {S} {G}, "
    assert flink.columns(f"{query} window_time, user_name") == {
        "window_start": "TIMESTAMP(3)",
        "window_end": "TIMESTAMP(3)",
        "window_time": "TIMESTAMP(3) *ROWTIME*",
        "u": "STRING",
        "n": "BIGINT",
        "EXPR$5": "TIMESTAMP(3)",
    }


def test_the_time_of_instants_stays_one(flink: Analysis) -> None:
    zone = "SET 'table.local-time-zone' = 'Europe/Berlin';"
    query = "FROM TABLE(SLIDE(TABLE instants, DESCRIPTOR(rt), INTERVAL '1' DAY))"
    columns = flink.columns(f"{zone} SELECT window_start, window_time, k {query} {G}, window_time, k")
    assert columns["window_start"] == "TIMESTAMP(3)"
    assert columns["window_time"] == "TIMESTAMP_LTZ(3) *ROWTIME*"


def test_explain_says_what_bounds_the_state(flink: Analysis) -> None:
    text = as_text(flink.plan(f"SELECT user_name, COUNT(*) FROM {S} {G}, user_name HAVING COUNT(*) > 2"))
    assert "result:          append" in text
    assert "AssignWindows(SLIDE(600000 ms) on ts)" in text
    assert (
        "Slide(SLIDE by user_name in the order of ts; "
        "state: rows until the watermark passes them, and those of the last 600000 ms)" in text
    )
    assert "unbounded state" not in text


def test_no_window_end_wakes_the_source(flink: Analysis) -> None:
    plan = place_watermarks(flink.plan(f"SELECT COUNT(*) FROM {S} {G}"))
    (scan,) = (n for n in walk(plan) if isinstance(n, Scan))
    assert (scan.watermarked, scan.ends) == (True, ())


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT window_end FROM {S} {G}",
        f"SELECT DISTINCT window_start, window_end, user_name FROM {S}",
        f"SELECT UPPER(s.user_name) || '!', COUNT(*) FROM {S} AS s WHERE amount > 1 {G}, UPPER(s.user_name)",
        f"SELECT u.country, COUNT(*) FROM {S} AS s JOIN users AS u ON s.user_name = u.user_name {G}, country",
        f"SELECT COUNT(*) FROM {S} WHERE user_name IN (SELECT user_name FROM users) {G}",
        f"SELECT COUNT(*) FROM {S} {G} HAVING COUNT(*) > (SELECT COUNT(*) FROM users)",
        f"SELECT e, COUNT(*) FROM {S} AS s (a, b, c, d, e, f, w, x, y) GROUP BY w, x, e",
        "SELECT COUNT(*) FROM TABLE(SLIDE(DATA => TABLE clicks, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR))"
        + G,
        f"SELECT COUNT(*) FROM {S} {G} EMIT AFTER WATERMARK",
        f"SELECT COUNT(*) FROM {S} {G} EMIT ON WINDOW CLOSE",
        f"SELECT ts, COUNT(*) FROM {S} {G}, ts",
        f"""SELECT user_name, SUM(n) FROM (SELECT user_name, window_start, window_end, COUNT(*) AS n FROM {S}
            {G}, user_name) {G}, user_name""",
    ],
)
@pytest.mark.parametrize("mode", ["", BATCH])
def test_what_works(flink: Analysis, query: str, mode: str) -> None:
    plan = flink.plan(f"{mode} {query}")
    assert any(isinstance(n, Slide) for n in walk(plan))
    assert not any(isinstance(n, SlideRows) for n in walk(plan))
    assert [n.spec.kind for n in walk(plan) if isinstance(n, AssignWindows)] == [WindowKind.SLIDE]


def _slide(arguments: str, rest: str = G) -> str:
    return f"SELECT COUNT(*) FROM TABLE(SLIDE({arguments})) {rest}"


_ARGUMENTS = [
    ("TABLE clicks, DESCRIPTOR(ts)", "WINDOW-001", "TABLE(SLIDE"),
    ("TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' MINUTE", "WINDOW-001", "TABLE(SLIDE"),
    ("DATA => TABLE clicks, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '1' HOUR", "WINDOW-001", "GAP"),
    ("TABLE clicks, DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR", "WINDOW-001", "TABLE(SLIDE"),
    ("TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MONTH", "WINDOW-002", "INTERVAL"),
    ("TABLE clicks, DESCRIPTOR(ts), 10", "WINDOW-003", "10"),
    ("TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), INTERVAL '1' HOUR", "WINDOW-004", "user_name"),
    ("TABLE clicks, DESCRIPTOR(ts), INTERVAL '0' HOUR", "WINDOW-005", "INTERVAL"),
    ("TABLE clicks, DESCRIPTOR(ts), INTERVAL '-1' HOUR", "WINDOW-005", "INTERVAL"),
    ("TABLE clicks, DESCRIPTOR(amount), INTERVAL '1' HOUR", "TIME-001", "amount"),
    ("TABLE users, DESCRIPTOR(since), INTERVAL '1' HOUR", "TIME-001", "since"),
    ("TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' HOUR", "WINDOW-013", "pt"),
    ("TABLE clicks, DESCRIPTOR(nope), INTERVAL '1' HOUR", "NAME-003", "nope"),
]
_COUNT = f"SELECT COUNT(*) FROM {S} {G}"
_REFUSED = [
    (f"SELECT * FROM {S}", "WINDOW-014", "TABLE(SLIDE"),
    (f"SELECT COUNT(*) FROM {S}", "WINDOW-014", "TABLE(SLIDE"),
    (f"SELECT user_name, COUNT(*) FROM {S} GROUP BY user_name, window_end", "WINDOW-014", "TABLE(SLIDE"),
    (f"SELECT SUM(amount) OVER (ORDER BY ts) FROM {S}", "WINDOW-014", "TABLE(SLIDE"),
    (f"SELECT DISTINCT user_name FROM {S}", "WINDOW-014", "TABLE(SLIDE"),
    (f"CREATE VIEW w AS SELECT * FROM {S}", "WINDOW-014", "TABLE(SLIDE"),
    (f"SELECT COUNT(*) FROM {S} AS a JOIN {S} AS b ON a.user_name = b.user_name GROUP BY a.window_start, a.window_end",
     "WINDOW-014", "TABLE(SLIDE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) AS a"),
    (f"SELECT COUNT(*) FROM {S} WHERE window_end > TIMESTAMP '2024-01-01 00:00:00' {G}", "WINDOW-015", "window_end > "),
    (f"SELECT MAX(window_end) FROM {S} {G}", "WINDOW-015", "window_end) FROM"),
    (f"SELECT COUNT(*) FILTER (WHERE window_time > ts) FROM {S} {G}", "WINDOW-015", "window_time > "),
    (f"SELECT COUNT(*) FROM {S} {G}, HOUR(window_start)", "WINDOW-015", "window_start)"),
    (f"SELECT COUNT(*) FROM {S} AS s JOIN users AS u ON s.window_end > u.since {G}", "WINDOW-015", "s.window_end"),
    (f"SELECT user_name, COUNT(*) FROM {S} {G}, ROLLUP (user_name)", "WINDOW-015", "ROLLUP"),
    (f"SELECT amount, COUNT(*) FROM {S} {G}", "NAME-010", "amount"),
    (f"SELECT window_time, COUNT(*) FROM {S} {G}", "NAME-010", "window_time"),
    (f"{_COUNT} EMIT CHANGES", "EMIT-125", "EMIT"),
    (f"{_COUNT} EMIT EVERY 10s", "EMIT-125", "EMIT"),
    (f"{_COUNT} EMIT AFTER WATERMARK EARLY EVERY 10s", "EMIT-125", "EMIT"),
    (f"{_COUNT} EMIT AFTER WATERMARK DISCARDING", "EMIT-125", "EMIT"),
    (f"{_COUNT} EMIT AFTER WATERMARK ALLOW LATENESS 1h", "EMIT-125", "ALLOW"),
    (f"{_COUNT} EMIT AFTER WATERMARK LATE DATA TO nowhere", "EMIT-114", "nowhere"),
    (f"{_COUNT} EMIT AFTER WATERMARK ALLOW LATENESS 1h LATE DATA TO kept", "EMIT-125", "ALLOW"),
    (f"SELECT DISTINCT n FROM (SELECT COUNT(*) AS n FROM {S} {G} EMIT AFTER WATERMARK LATE DATA TO kept)",
     "EMIT-118", "kept"),
    (f"{_COUNT} EMIT FILL FOR 1h", "EMIT-119", "FILL"),
    (f"""SELECT SUM(n) FROM (SELECT window_start, window_end, COUNT(*) AS n FROM {S} {G}, user_name) {G}
        EMIT FILL FOR 1h""", "EMIT-119", "FILL"),
    (f"SELECT PANE_INDEX(), COUNT(*) FROM {S} {G}", "EMIT-111", "PANE_INDEX"),
    (f"SELECT COUNT(ROW_KIND()) FROM {S} {G}", "EMIT-111", "ROW_KIND"),
    (f"SET 'table.exec.emit.early-fire.enabled' = 'true'; {_COUNT}", "EMIT-032", "SELECT"),
    ("SELECT COUNT(*) FROM clicks GROUP BY SLIDE(ts, INTERVAL '1' HOUR)", "WINDOW-001", "SLIDE"),
    ("SELECT COUNT(*) FROM clicks GROUP BY CUMULATE(ts, INTERVAL '1' HOUR)", "WINDOW-001", "CUMULATE"),
    (f"SELECT LISTAGG(user_name, ',') WITHIN GROUP (ORDER BY amount) FROM {S} {G}", "FUNC-021", "LISTAGG"),
]  # fmt: skip


KEPT = """CREATE TABLE kept (user_name STRING, amount INT, `watermark` TIMESTAMP(3))
WITH ('connector' = 'delta', 'path' = '/kept');"""


def _late(compiled: Any) -> list[str]:
    """Return the columns of the table that takes late rows."""
    (late,) = compiled.script.sides
    return [name for _, name in late.outputs]


@pytest.mark.parametrize(
    ("settings", "emit"),
    [("", "EMIT AFTER WATERMARK LATE DATA TO kept"), ("SET 'sqlext.late-rows.table' = 'kept';", "")],
)
def test_late_rows_are_kept_with_columns_that_nobody_else_reads(flink: Analysis, settings: str, emit: str) -> None:
    flink.run(f"{KEPT} {settings}")
    query = f"SELECT window_end, COUNT(*) AS n FROM {S} {G} HAVING COUNT(*) > 1 {emit}"
    compiled = flink.run(query)
    assert _late(compiled) == ["user_name", "amount", "watermark"]
    assert "row" in _specification(flink, query)
    # HAVING leaves late rows alone, which have nothing that it could look at.
    assert "CASE WHEN __late IS NULL" in compiled.script.query  # type: ignore[union-attr]


def test_dead_letters_take_late_rows(flink: Analysis) -> None:
    letters = "CREATE TABLE letters (cause STRING, operator STRING, text STRING)"
    flink.run(f"{letters} WITH ('connector' = 'delta', 'path' = '/letters');")
    flink.run("SET 'sqlext.dead-letters.table' = 'letters';")
    compiled = flink.run(_COUNT)
    assert compiled is not None
    late = compiled.script.sides[0]
    assert [s.side for s in compiled.script.sides] == ["late", "bad"]
    assert ("operator", "operator") in {(text, name) for text, name in late.outputs}
    assert "'Slide' AS operator" in late.columns


def test_batch_mode_keeps_no_late_rows(flink: Analysis) -> None:
    compiled = flink.run(f"{KEPT} {BATCH} SET 'sqlext.late-rows.table' = 'kept'; {_COUNT}")
    assert compiled is not None
    assert compiled.script.sides == ()


def test_columns_of_a_static_table_beside_it_are_kept(flink: Analysis) -> None:
    flink.run("CREATE TABLE kept (country STRING, amount INT) WITH ('connector' = 'delta', 'path' = '/kept');")
    joined = f"{S} AS s JOIN users AS u ON u.user_name = s.user_name"
    query = f"SELECT COUNT(*) AS n FROM {joined} {G} EMIT AFTER WATERMARK LATE DATA TO kept"
    assert _late(flink.run(query)) == ["country", "amount"]


@pytest.mark.parametrize(
    ("query", "code", "at"), [(_slide(arguments), code, at) for arguments, code, at in _ARGUMENTS] + _REFUSED
)
def test_refused(flink: Analysis, query: str, code: str, at: str) -> None:
    flink.run(KEPT)
    assert flink.refuse(query, code, at).hint or code in ("NAME-003", "WINDOW-001", "FUNC-021", "EMIT-114")


def test_rows_that_change_have_no_such_windows(flink: Analysis) -> None:
    last = "QUALIFY ROW_NUMBER() OVER (PARTITION BY amount ORDER BY ts DESC) = 1"
    flink.run(f"CREATE VIEW lasts AS SELECT * FROM clicks {last}")
    error = flink.refuse(_slide("TABLE lasts, DESCRIPTOR(ts), INTERVAL '1' HOUR"), "WINDOW-012")
    assert error.message.startswith("SLIDE cannot stand over rows that change")
