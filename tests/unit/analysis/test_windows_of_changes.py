"""Windows over rows that may be taken back: which ones there are, and what is refused."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.grouping import Aggregate
from sqlext.plan.windows.session_rows import SessionRows
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

CHANGES = """
CREATE TABLE changes (id INT, who STRING, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/changes', 'format' = 'debezium-json');
CREATE TABLE late (id INT) WITH ('connector' = 'filesystem', 'path' = '/out/late', 'format' = 'json');
CREATE VIEW newest AS SELECT user_name, amount, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY ts DESC) AS rn FROM clicks) WHERE rn = 1;
"""
HOUR = "DESCRIPTOR(ts), INTERVAL '1' HOUR"
CLOCK = "DESCRIPTOR(pt), INTERVAL '1' HOUR"
BOUNDS = "GROUP BY window_start, window_end"
RANKED = f"""
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY id) AS n
FROM TABLE(TUMBLE(TABLE changes, {HOUR}))) WHERE n = 1
"""
JOINED = f"""
SELECT 1 FROM (SELECT * FROM TABLE(TUMBLE(TABLE changes, {HOUR}))) a
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE clicks, {HOUR}))) b
ON a.window_start = b.window_start AND a.window_end = b.window_end
"""


@pytest.fixture
def tables(flink: Analysis) -> Analysis:
    flink.run(CHANGES)
    return flink


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE changes, {HOUR})) {BOUNDS}",
        f"SELECT COUNT(*) FROM TABLE(HOP(TABLE changes, {HOUR}, INTERVAL '2' HOUR)) {BOUNDS}",
        f"SELECT COUNT(*) FROM TABLE(CUMULATE(TABLE newest, {HOUR}, INTERVAL '2' HOUR)) {BOUNDS}",
        "SELECT MAX(id) FROM changes GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
    ],
)
def test_windows_are_given_and_come_once(tables: Analysis, query: str) -> None:
    compiled = tables.run(query)
    assert compiled is not None
    grouping = next(n for n in walk(compiled.plan) if isinstance(n, Aggregate))
    assert grouping.kept is not None
    assert (grouping.kept.given, grouping.kept.panes, grouping.kept.policy.mode) == (True, "one", "ACCUMULATING")
    assert not compiled.plan.changelog
    step = [s for s in compiled.script.steps if isinstance(s, OperatorView)][-1]
    assert {name for name, _ in dict(step.arguments)["places"]} >= {"start", "end", "kind"}


@pytest.mark.parametrize(
    ("query", "places"),
    [
        (f"SELECT COUNT(*) FROM TABLE(SESSION(TABLE changes, {HOUR})) {BOUNDS}", {"time", "kind"}),
        (
            f"SELECT who, MAX(id) FROM TABLE(SESSION(TABLE changes PARTITION BY who, {HOUR})) who_ {BOUNDS}, who",
            {"time", "kind"},
        ),
        ("SELECT MAX(amount) FROM newest GROUP BY SESSION(ts, INTERVAL '1' HOUR)", {"time", "kind"}),
        (f"SELECT COUNT(*) FROM TABLE(SESSION(TABLE changes, {CLOCK})) {BOUNDS}", {"kind"}),
        (f"SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE changes, {CLOCK})) {BOUNDS}", {"kind"}),
        (f"SELECT COUNT(*) FROM TABLE(CUMULATE(TABLE changes, {CLOCK}, INTERVAL '2' HOUR)) {BOUNDS}", {"kind"}),
        ("SELECT id FROM changes GROUP BY id, HOP(pt, INTERVAL '1' HOUR, INTERVAL '2' HOUR)", {"kind"}),
        (
            "SELECT 1 FROM clicks LEFT JOIN changes c ON user_name = who GROUP BY TUMBLE(c.pt, INTERVAL '1' HOUR)",
            {"kind"},
        ),
    ],
)
def test_sessions_and_windows_of_the_clock_are_made_by_their_operator(
    tables: Analysis, query: str, places: set[str]
) -> None:
    compiled = tables.run(query)
    assert compiled is not None
    grouping = next(n for n in walk(compiled.plan) if isinstance(n, Aggregate))
    assert grouping.kept is not None
    assert (grouping.kept.given, grouping.kept.panes) == (False, "one")
    assert not compiled.plan.changelog
    step = [s for s in compiled.script.steps if isinstance(s, OperatorView)][-1]
    named = {name for name, _ in dict(step.arguments)["places"]}
    assert named & {"time", "start", "end", "kind"} == places


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM TABLE(SESSION(TABLE changes PARTITION BY who, {HOUR}))",
        f"SELECT who, COUNT(*) FROM TABLE(SESSION(TABLE changes PARTITION BY who, {HOUR})) GROUP BY who",
        f"SELECT window_start, COUNT(*) FROM TABLE(SESSION(TABLE changes, {HOUR})) GROUP BY window_start",
        f"SELECT DISTINCT who FROM TABLE(SESSION(TABLE changes PARTITION BY who, {CLOCK}))",
    ],
)
def test_rows_of_sessions_say_what_they_do(tables: Analysis, query: str) -> None:
    plan = tables.plan(query)
    (rows,) = (n for n in walk(plan) if isinstance(n, SessionRows))
    assert (rows.changelog, rows.event_time, rows.uses_clock) == (True, CLOCK not in query, CLOCK in query)
    assert plan.changelog or plan.updating


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT 1 FROM TABLE(SESSION(TABLE changes PARTITION BY who, {HOUR})) {BOUNDS}",
        f"SELECT id FROM TABLE(SESSION(TABLE changes PARTITION BY who, {HOUR})) {BOUNDS}, GROUPING SETS ((id), ())",
        f"SELECT 1 FROM (SELECT * FROM TABLE(SESSION(TABLE changes, {HOUR})) WHERE id > 1) {BOUNDS}",
    ],
)
def test_sessions_of_other_keys_are_grouped_when_they_are_over(tables: Analysis, query: str) -> None:
    plan = tables.plan(query)
    grouping = next(n for n in walk(plan) if isinstance(n, Aggregate))
    assert grouping.kept is not None
    assert (grouping.kept.given, grouping.kept.panes, plan.changelog) == (True, "one", False)
    assert any(isinstance(n, SessionRows) for n in walk(plan))


@pytest.mark.parametrize("table", ["changes", "(SELECT *, PROCTIME() AS pt FROM clicks)"])
@pytest.mark.parametrize("function", ["TUMBLE", "CUMULATE", "SESSION"])
def test_rows_get_windows_by_the_clock_of_their_micro_batch(tables: Analysis, table: str, function: str) -> None:
    tables.run(f"CREATE VIEW rows_of AS SELECT * FROM {table}")
    more = ", INTERVAL '2' HOUR" if function == "CUMULATE" else ""
    compiled = tables.run(f"SELECT * FROM TABLE({function}(TABLE rows_of, {CLOCK}{more}))")
    assert compiled is not None
    text = str(compiled.script)
    assert "``" not in text


def test_panes_that_take_each_others_place_are_changes(tables: Analysis) -> None:
    early = (
        f"SELECT user_name, window_time AS ts FROM TABLE(TUMBLE(TABLE clicks, {HOUR})) "
        "GROUP BY user_name, window_start, window_end, window_time EMIT AFTER WATERMARK EARLY EVERY 2 ROWS"
    )
    tables.run(f"CREATE VIEW early AS {early}")
    plan = tables.plan(f"SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE early, {HOUR})) {BOUNDS}")
    assert (plan.updating, plan.changelog, plan.inputs[0].changelog) == (False, False, True)


@pytest.mark.parametrize(
    ("query", "code", "at"),
    [
        (
            f"SELECT 1 FROM TABLE(SESSION(TABLE changes, {HOUR}, INTERVAL '3' HOUR)) {BOUNDS}",
            "WINDOW-012",
            "TABLE(SESSION",
        ),
        ("SELECT 1 FROM changes GROUP BY TUMBLE(ts, INTERVAL '1' HOUR) EMIT EVERY 2 ROWS", "WINDOW-012", "EMIT"),
        (
            RANKED,
            "RANK-002",
            "ROW_NUMBER",
        ),
        (
            JOINED,
            "JOIN-002",
            None,
        ),
    ],
)
def test_refusals(tables: Analysis, query: str, code: str, at: str | None) -> None:
    tables.refuse(query, code, at=at)


@pytest.mark.parametrize(
    "setting", ["'table.exec.emit.early-fire.enabled' = 'true'", "'sqlext.late-rows.table' = 'late'"]
)
def test_settings_that_make_more_than_one_pane(tables: Analysis, setting: str) -> None:
    tables.run(f"SET {setting}")
    tables.run("SET 'table.exec.emit.early-fire.delay' = '1 min'")
    tables.refuse("SELECT COUNT(*) FROM changes GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", "WINDOW-012")
