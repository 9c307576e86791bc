"""Where a time attribute stays one, where it is lost, and that the error says where."""

from __future__ import annotations

import pytest

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
    flink.run("CREATE VIEW v AS SELECT ts AS t FROM clicks UNION ALL SELECT rt FROM instants")
    flink.run("SET 'table.local-time-zone' = 'Europe/Berlin'")
    assert flink.times("SELECT * FROM v") == {}
    flink.run("CREATE VIEW w AS SELECT ts AS t FROM clicks UNION ALL SELECT CAST(rt AS TIMESTAMP_LTZ(3)) FROM instants")
    flink.run("SET 'table.local-time-zone' = 'UTC'")
    assert flink.times("SELECT * FROM w") == {}


def test_the_first_branch_of_a_union_gives_the_type_of_its_rowtime(flink: Analysis) -> None:
    branches = "SELECT ts AS t FROM clicks", "SELECT rt AS t FROM instants"
    assert flink.columns(" UNION ALL ".join(branches)) == {"t": "TIMESTAMP(3) *ROWTIME*"}
    assert flink.columns(" UNION ALL ".join(branches[::-1])) == {"t": "TIMESTAMP_LTZ(3) *ROWTIME*"}


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
