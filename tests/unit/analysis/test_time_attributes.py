"""Where a time attribute stays one, where it is lost, and that the error says where."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import AssignWindows, RestoreTime

from .conftest import Analysis

WINDOW = "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR({}), INTERVAL '1' MINUTE)) "
WINDOW += "GROUP BY window_start, window_end"

GROUPED = "GROUP BY window_start, window_end, window_time"

KEPT = {
    "projection": ("SELECT ts FROM clicks", {"ts": "ROWTIME"}),
    "alias": ("SELECT ts AS t FROM clicks", {"t": "ROWTIME"}),
    "parentheses": ("SELECT (ts) AS t FROM clicks", {"t": "ROWTIME"}),
    "star": ("SELECT * FROM clicks", {"ts": "ROWTIME", "pt": "PROCTIME"}),
    "qualified": ("SELECT c.ts FROM clicks AS c", {"ts": "ROWTIME"}),
    "twice": ("SELECT ts, ts AS again FROM clicks", {"ts": "ROWTIME", "again": "ROWTIME"}),
    "where": ("SELECT ts FROM clicks WHERE ts > TIMESTAMP '2024-01-01 00:00:00'", {"ts": "ROWTIME"}),
    "sub-query": ("SELECT t FROM (SELECT ts AS t FROM (SELECT ts FROM clicks))", {"t": "ROWTIME"}),
    "cte": ("WITH c AS (SELECT ts FROM clicks) SELECT ts FROM c", {"ts": "ROWTIME"}),
    "cte columns": ("WITH c (t) AS (SELECT ts FROM clicks) SELECT t FROM c", {"t": "ROWTIME"}),
    "table alias columns": ("SELECT t FROM (SELECT ts FROM clicks) AS c (t)", {"t": "ROWTIME"}),
    "union all": ("SELECT ts FROM clicks UNION ALL SELECT vt FROM visits", {"ts": "ROWTIME"}),
    "union of both types": ("SELECT ts FROM clicks UNION ALL SELECT rt FROM instants", {"ts": "ROWTIME"}),
    "union with a plain timestamp": ("SELECT ts FROM clicks UNION ALL SELECT since FROM users", {"ts": "ROWTIME"}),
    "static join": ("SELECT ts FROM clicks JOIN users USING (user_name)", {"ts": "ROWTIME"}),
    "left static join": ("SELECT c.ts FROM clicks c LEFT JOIN users u ON c.user_name = u.user_name", {"ts": "ROWTIME"}),
    "proctime": ("SELECT pt FROM clicks", {"pt": "PROCTIME"}),
    "proctime call": ("SELECT PROCTIME() AS p FROM clicks", {"p": "PROCTIME"}),
    "LTZ": ("SELECT rt FROM instants", {"rt": "ROWTIME"}),
    "window function": (
        "SELECT * FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '1' MINUTE))",
        {"vt": "ROWTIME", "window_time": "ROWTIME"},
    ),
    "window_time grouped": (
        "SELECT window_time FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '1' MINUTE)) " + GROUPED,
        {"window_time": "ROWTIME"},
    ),
    "TUMBLE_ROWTIME": (
        "SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS t FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
        {"t": "ROWTIME"},
    ),
}

LOST = {
    "arithmetic": ("SELECT ts + INTERVAL '1' SECOND AS t FROM clicks", "ts + INTERVAL"),
    "cast": ("SELECT CAST(ts AS TIMESTAMP(3)) AS t FROM clicks", "CAST(ts"),
    "function": ("SELECT FLOOR(ts TO HOUR) AS t FROM clicks", "FLOOR(ts"),
    "CASE": ("SELECT CASE WHEN amount > 1 THEN ts END AS t FROM clicks", "CASE WHEN"),
    "COALESCE": ("SELECT COALESCE(ts, ts) AS t FROM clicks", "COALESCE(ts"),
    "in a sub-query": ("SELECT t FROM (SELECT ts + INTERVAL '1' SECOND AS t FROM clicks)", "ts + INTERVAL"),
    "below a computation": (
        "SELECT t FROM (SELECT CAST(t AS TIMESTAMP(3)) AS t FROM (SELECT ts AS t FROM clicks))",
        "CAST(t ",
    ),
    "distinct": ("SELECT DISTINCT ts AS t FROM clicks", "SELECT DISTINCT"),
}


#: Rowtimes that are ordinary values, which GROUP BY TUMBLE takes as Flink does.
RESTORED = {
    "join": "SELECT c.ts AS t FROM clicks AS c JOIN visits AS v ON c.user_name = v.user_name",
    "right side": "SELECT v.vt AS t FROM clicks AS c JOIN visits AS v ON c.user_name = v.user_name",
    "outer join": "SELECT v.vt AS t FROM clicks AS c LEFT JOIN visits AS v ON c.user_name = v.user_name",
    "distinct": "SELECT DISTINCT user_name, ts AS t FROM clicks",
    "key": "SELECT user_name, ts AS t, COUNT(*) AS n FROM clicks GROUP BY user_name, ts",
    "MAX": "SELECT user_name, MAX(ts) AS t FROM clicks GROUP BY user_name",
    "union": "SELECT user_name, ts AS t FROM clicks UNION SELECT user_name, vt FROM visits",
    "IN": "SELECT ts AS t FROM clicks WHERE user_name IN (SELECT user_name FROM visits)",
    "LTZ": "SELECT DISTINCT rt AS t FROM instants",
}
GROUP_WINDOW = "SELECT {0}_START(t, INTERVAL '1' MINUTE), COUNT(*) FROM ({1}) GROUP BY {0}(t, INTERVAL '1' MINUTE)"


@pytest.mark.parametrize("query", RESTORED.values(), ids=RESTORED)
def test_restored_for_a_group_window_alone(flink: Analysis, query: str) -> None:
    plan = flink.plan(GROUP_WINDOW.format("TUMBLE", query))
    (restored,) = (n for n in walk(plan) if isinstance(n, RestoreTime))
    assert restored.columns[-1].is_rowtime
    # Windows wait for the watermark, so the scan has one; Spark knows of no column of these rows that it is of.
    kept = next(n for n in walk(plan) if isinstance(n, Aggregate) and n.by.window is not None).kept
    assert kept is not None
    assert kept.event_time
    flink.refuse(WINDOW.format("t").replace("TABLE v", f"TABLE ({query})"), "TIME-001")


@pytest.mark.parametrize("rows", ["join", "MAX"])
def test_sessions_of_restored_times(flink: Analysis, rows: str) -> None:
    flink.plan(GROUP_WINDOW.format("SESSION", RESTORED[rows]))


@pytest.mark.parametrize("query", [LOST["cast"][0], LOST["CASE"][0], "SELECT since AS t FROM users"])
def test_what_is_no_rowtime_is_not_restored(flink: Analysis, query: str) -> None:
    flink.refuse(GROUP_WINDOW.format("TUMBLE", query), "TIME-001")


def test_which_time_is_restored_is_a_fact_of_the_state(flink: Analysis) -> None:
    both = "SELECT c.ts AS a, v.vt AS b FROM clicks AS c JOIN visits AS v ON c.user_name = v.user_name"
    text = "SELECT COUNT(*) FROM ({}) GROUP BY TUMBLE({}, INTERVAL '1' MINUTE)"
    plans = [flink.plan(text.format(both, time)) for time in ("a", "b")]
    forms = [[n.window_part()[2] for n in walk(plan) if isinstance(n, AssignWindows)] for plan in plans]
    assert forms[0] != forms[1]


@pytest.mark.parametrize(("query", "times"), KEPT.values(), ids=KEPT)
def test_kept(flink: Analysis, query: str, times: dict[str, str]) -> None:
    assert flink.times(query) == times


@pytest.mark.parametrize("query", [q for q, times in KEPT.values() if "ROWTIME" in times.values()])
def test_kept_by_a_view(flink: Analysis, query: str) -> None:
    times = flink.times(query)
    flink.run(f"CREATE VIEW v AS {query}")
    assert flink.times("SELECT * FROM v") == times


@pytest.mark.parametrize(("query", "where"), LOST.values(), ids=LOST)
def test_lost(flink: Analysis, query: str, where: str) -> None:
    assert flink.times(query) == {}
    text = WINDOW.format("t").replace("TABLE v", f"TABLE ({query})")
    error = flink.refuse(text, "TIME-001", "t), INTERVAL '1' MINUTE))")
    assert error.hint is not None
    line, column = error.hint.split("at <sql>:")[1].split(":")[:2]
    assert (int(line), int(column)) == (1, text.index(where) + 1)


def test_lost_in_a_view_is_said_with_the_views_name(flink: Analysis) -> None:
    flink.run("CREATE VIEW v AS SELECT user_name,\n ts + INTERVAL '1' SECOND AS t FROM clicks")
    error = flink.refuse(WINDOW.format("t"), "TIME-001", "t), ")
    assert error.hint is not None
    assert "at view v:" in error.hint


def test_lost_by_grouping(flink: Analysis) -> None:
    flink.run("CREATE VIEW v AS SELECT ts AS t, COUNT(*) AS n FROM clicks GROUP BY ts")
    assert flink.times("SELECT * FROM v") == {}
    error = flink.refuse("SELECT t FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(t), INTERVAL '1' MINUTE))", "TIME-001", "t), ")
    assert "GROUP BY" in (error.hint or "")


def test_lost_where_the_branches_of_a_union_differ(flink: Analysis) -> None:
    flink.run("CREATE VIEW w AS SELECT ts AS t FROM clicks UNION ALL SELECT CAST(rt AS TIMESTAMP_LTZ(3)) FROM instants")
    assert flink.times("SELECT * FROM w") == {}


def test_the_first_branch_of_a_union_gives_the_type_of_its_rowtime(flink: Analysis) -> None:
    branches = "SELECT ts AS t FROM clicks", "SELECT rt AS t FROM instants"
    assert flink.columns(" UNION ALL ".join(branches)) == {"t": "TIMESTAMP(3) *ROWTIME*"}
    assert flink.columns(" UNION ALL ".join(branches[::-1])) == {"t": "TIMESTAMP_LTZ(3) *ROWTIME*"}


HOUR = 3_600_000
#: By zone the hold of TIMESTAMP first, and of TIMESTAMP_LTZ first: what the clock is behind UTC at most, and ahead.
HELD = {
    "UTC": (0, 0),
    "Europe/Berlin": (0, 2 * HOUR),
    "America/New_York": (5 * HOUR, 0),
    "Europe/London": (0, HOUR),
    "Asia/Kolkata": (0, int(5.5 * HOUR)),
    "GMT-03:30": (int(3.5 * HOUR), 0),
    "Pacific/Apia": (11 * HOUR, 14 * HOUR),  # it went over the date line
}


@pytest.mark.parametrize("zone", HELD)
def test_a_union_of_both_types_is_held_back_by_the_shift_of_the_zone(flink: Analysis, zone: str) -> None:
    """The watermark of a branch is that of its own type: it must not pass rows that are older in the other one."""
    flink.run(f"SET 'table.local-time-zone' = '{zone}'")
    branches = "SELECT ts AS t FROM clicks", "SELECT rt AS t FROM instants"
    for order, held in zip((branches, branches[::-1]), HELD[zone], strict=True):
        union = f"({' UNION ALL '.join(order)})"
        assert flink.times(f"SELECT * FROM {union}") == {"t": "ROWTIME"}
        plan = flink.plan(f"SELECT t, COUNT(*) OVER (ORDER BY t) FROM {union}")
        assert max(n.lag for n in walk(plan)) == held
        window = f"SELECT COUNT(*) FROM {union} GROUP BY TUMBLE(t, INTERVAL '1' MINUTE)"
        kept = [n.kept for n in walk(flink.plan(window)) if isinstance(n, Aggregate)]
        assert [k is not None for k in kept] == [held > 0]  # Spark's own windows know no hold
    assert flink.plan(f"{branches[0]} UNION ALL {branches[0]}").lag == 0


def test_window_bounds_are_no_time_attributes(flink: Analysis) -> None:
    query = "SELECT window_start AS t FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    assert flink.columns(query) == {"t": "TIMESTAMP(3)"}


def test_never_one(flink: Analysis) -> None:
    error = flink.refuse(WINDOW.format("since").replace("TABLE v", "TABLE users"), "TIME-001", "since)")
    assert error.hint == "declare WATERMARK FOR since AS since - INTERVAL '5' SECOND on its table"
    error = flink.refuse(WINDOW.format("amount").replace("TABLE v", "TABLE clicks"), "TIME-001", "amount)")
    assert "is INT" in error.message


def test_the_time_of_a_processing_time_window_is_a_processing_time(flink: Analysis) -> None:
    window = "SELECT window_time FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' MINUTE))"
    assert flink.times(window + " GROUP BY window_start, window_end, window_time") == {"window_time": "PROCTIME"}


def test_describe_shows_them(flink: Analysis) -> None:
    assert flink.columns("SELECT ts, pt FROM clicks") == {
        "ts": "TIMESTAMP(3) *ROWTIME*",
        "pt": "TIMESTAMP_LTZ(3) *PROCTIME*",
    }


def test_two_rowtimes_into_a_sink(flink: Analysis) -> None:
    flink.run("CREATE TABLE two (a TIMESTAMP(3), b TIMESTAMP(3)) WITH ('connector' = 'blackhole')")
    flink.refuse("INSERT INTO two SELECT ts, ts AS b FROM clicks", "SINK-003")
    flink.run("INSERT INTO two SELECT ts, CAST(ts AS TIMESTAMP(3)) FROM clicks")
