"""GROUP BY: what may stand beside it, when a window groups, and the arguments of windows."""

from __future__ import annotations

import pytest

from sqlext.plan import nodes
from sqlext.plan.base import walk
from sqlext.plan.columns import Part, Time
from sqlext.plan.distinct import Distinct
from sqlext.plan.grouping import Aggregate
from sqlext_udfs.windows.policy import Cumulate, Hop, Tumble

from .conftest import Analysis

TUMBLE = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"


def aggregate(plan: nodes.PlanNode) -> Aggregate:
    assert isinstance(plan, Aggregate)
    return plan


@pytest.mark.parametrize(
    ("items", "windowed"),
    [
        ("window_start, window_end", True),
        ("window_end, user_name, window_start", True),
        ("window_start, window_end, window_time", True),
        ("window_start", False),
        ("window_end, user_name", False),
        ("window_time", False),
        ("user_name", False),
    ],
)
def test_a_window_groups_by_both_its_bounds(flink: Analysis, items: str, windowed: bool) -> None:
    plan = aggregate(flink.plan(f"SELECT {items}, COUNT(*) FROM {TUMBLE} GROUP BY {items}"))
    assert (plan.by.window is not None) == windowed
    assert plan.updating != windowed


def test_keys_of_an_updating_result(flink: Analysis) -> None:
    assert flink.plan("SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name").keys == ("__key_0",)
    assert flink.plan("SELECT COUNT(*) FROM clicks").keys == (nodes.KEY_ALL,)
    assert nodes.KEY_SET in flink.plan("SELECT COUNT(*) FROM clicks GROUP BY ROLLUP (user_name)").keys
    assert flink.plan("SELECT country, COUNT(*) FROM users GROUP BY country").keys == ()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT amount + 1, COUNT(*) FROM clicks GROUP BY amount + 1",
        "SELECT (amount + 1) * 2 FROM clicks GROUP BY amount + 1",
        "SELECT c.amount FROM clicks AS c GROUP BY amount",
        "SELECT extra.a FROM clicks GROUP BY extra.a",
        "SELECT UPPER(user_name) FROM clicks GROUP BY UPPER(user_name) HAVING MAX(amount) > 1",
        "SELECT 1, COUNT(*) FROM clicks",
        "SELECT user_name, GROUPING(user_name), COUNT(*) FROM clicks GROUP BY CUBE (user_name, amount)",
    ],
)
def test_grouped(flink: Analysis, query: str) -> None:
    aggregate(flink.plan(query))


@pytest.mark.parametrize(
    ("query", "code", "at"),
    [
        ("SELECT user_name, COUNT(*) FROM clicks", "NAME-010", "user_name"),
        ("SELECT amount, COUNT(*) FROM clicks GROUP BY user_name", "NAME-010", "amount"),
        ("SELECT amount + 2 FROM clicks GROUP BY amount + 1", "NAME-010", "amount + 2"),
        ("SELECT user_name FROM clicks GROUP BY user_name HAVING amount > 1", "NAME-010", "amount"),
        ("SELECT MAX(MIN(amount)) FROM clicks", "NAME-011", "MIN(amount)"),
        ("SELECT user_name FROM clicks WHERE COUNT(*) > 1 GROUP BY user_name", "WINDOW-009", "COUNT(*)"),
        (f"SELECT window_start, amount FROM {TUMBLE} GROUP BY window_start, window_end", "NAME-010", "amount FROM"),
    ],
)
def test_not_grouped(flink: Analysis, query: str, code: str, at: str) -> None:
    flink.refuse(query, code, at)


def test_sparks_ordinals_and_aliases(spark_mode: Analysis, flink: Analysis) -> None:
    aggregate(spark_mode.plan("SELECT user_name AS u, COUNT(*) FROM clicks GROUP BY 1"))
    aggregate(spark_mode.plan("SELECT UPPER(user_name) AS u, COUNT(*) FROM clicks GROUP BY u"))
    spark_mode.refuse("SELECT user_name FROM clicks GROUP BY 3", "NAME-009", "3")
    flink.refuse("SELECT UPPER(user_name) AS u, COUNT(*) FROM clicks GROUP BY u", "NAME-003", "u")


@pytest.mark.parametrize(
    ("call", "code", "at"),
    [
        ("TUMBLE(TABLE clicks, DESCRIPTOR(ts))", "WINDOW-001", "TABLE(TUMBLE"),
        ("TUMBLE(TABLE clicks, DESCRIPTOR(ts), 10)", "WINDOW-003", "10"),
        ("TUMBLE(TABLE clicks, DESCRIPTOR(ts), '10 MINUTES')", "WINDOW-003", "'10"),
        ("TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '0' MINUTE)", "WINDOW-005", "INTERVAL"),
        ("TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' MINUTE)", "WINDOW-005", "INTERVAL"),
        ("TUMBLE(TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", "WINDOW-004", "user_name"),
        ("TUMBLE(TABLE clicks, DESCRIPTOR(tz), INTERVAL '1' MINUTE)", "NAME-003", "tz"),
        ("TUMBLE(DATA => TABLE clicks, TIMECOL => DESCRIPTOR(ts), SIZ => INTERVAL '1' MINUTE)", "WINDOW-001", "SIZ"),
        ("HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '5' MINUTE)", "WINDOW-005", "INTERVAL '5'"),
        ("SESSION(TABLE clicks, DESCRIPTOR(ts), INTERVAL '-1' MINUTE)", "WINDOW-005", "INTERVAL"),
        ("SESSION(TABLE clicks PARTITION BY amount + 1, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", "WINDOW-006", "amount"),
        ("CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '5' MINUTE)",
         "WINDOW-005", "INTERVAL '5'"),
        ("TUMBEL(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", "FUNC-004", "TABLE(TUMBEL"),
    ],
)  # fmt: skip
def test_window_arguments(flink: Analysis, call: str, code: str, at: str) -> None:
    flink.refuse(f"SELECT window_start, COUNT(*) FROM TABLE({call}) GROUP BY window_start, window_end", code, at)


@pytest.mark.parametrize(
    ("query", "code", "at"),
    [
        ("SELECT COUNT(*) FROM clicks GROUP BY TUMBLE(ts, 10)", "WINDOW-003", "10"),
        ("SELECT COUNT(*) FROM clicks GROUP BY TUMBLE(ts)", "WINDOW-001", "TUMBLE"),
        ("SELECT COUNT(*) FROM clicks GROUP BY TUMBLE(ts + INTERVAL '1' DAY, INTERVAL '1' DAY)", "TIME-001", "ts + "),
        ("SELECT COUNT(*) FROM users GROUP BY TUMBLE(since, INTERVAL '1' DAY)", "TIME-001", "since"),
        ("SELECT COUNT(*) FROM users GROUP BY TUMBLE(CURRENT_TIMESTAMP, INTERVAL '1' DAY)", "TIME-001", "CURRENT"),
        ("SELECT HOP_START(PROCTIME(), INTERVAL '1' DAY) FROM clicks GROUP BY TUMBLE(PROCTIME(), INTERVAL '1' DAY)",
         "WINDOW-007", "HOP_START"),
        ("SELECT COUNT(*) FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' DAY), SESSION(ts, INTERVAL '1' DAY)",
         "WINDOW-008", "SESSION"),
        ("SELECT TUMBLE_START(ts, INTERVAL '2' DAY) FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
         "WINDOW-007", "TUMBLE_START"),
        ("SELECT HOP_START(ts, INTERVAL '1' DAY) FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
         "WINDOW-007", "HOP_START"),
    ],
)  # fmt: skip
def test_legacy_windows(flink: Analysis, query: str, code: str, at: str) -> None:
    flink.refuse(query, code, at)


@pytest.mark.parametrize("window", ["TUMBLE({}, INTERVAL '1' DAY)", "SESSION({}, INTERVAL '1' DAY)",
                                    "HOP({}, INTERVAL '1' HOUR, INTERVAL '1' DAY)"])  # fmt: skip
def test_windows_by_the_clock_itself(flink: Analysis, window: str) -> None:
    """PROCTIME() in place of a column that is it."""
    call = window.format("PROCTIME()")
    start, clock = call.replace("(", "_START(", 1), call.replace("(", "_PROCTIME(", 1)
    query = (
        f"SELECT c.page, {start} AS s, {clock} AS p, COUNT(*) FROM {{}} GROUP BY c.page, {call} HAVING {start} > {{}}"
    )
    plan = flink.plan(query.format("visits AS c", "TIMESTAMP '2024-01-01 00:00:00'"))
    (assigned,) = (n for n in walk(plan) if isinstance(n, nodes.AssignWindows))
    assert (assigned.spec.processing, plan.changelog, plan.columns[2].time) == (True, False, Time.PROCTIME)
    joined = flink.plan(query.format("visits AS c JOIN users AS u ON c.page = u.user_name", "MAX(u.since)"))
    assert any(isinstance(n, nodes.AssignWindows) for n in walk(joined))


def test_distinct_groups(flink: Analysis) -> None:
    """SELECT DISTINCT of groups: of windows, whose rows are final, an append; of others a changelog."""
    window = "TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '1' MINUTE))"
    windowed = flink.plan(f"SELECT DISTINCT COUNT(*) AS n FROM {window} GROUP BY page, window_start, window_end")
    assert (windowed.changelog, windowed.updating) == (False, False)
    assert any(isinstance(n, Distinct) for n in walk(windowed))
    grouped = flink.plan("SELECT DISTINCT COUNT(*) AS n FROM visits GROUP BY page")
    assert sum(isinstance(n, Aggregate) for n in walk(grouped)) == 2


def test_group_windows_over_a_join_with_a_static_table(flink: Analysis) -> None:
    query = """SELECT country, TUMBLE_START(ts, INTERVAL '1' MINUTE) AS s, COUNT(*) AS n
        FROM clicks c JOIN users u ON c.user_name = u.user_name GROUP BY country, TUMBLE(ts, INTERVAL '1' MINUTE)"""
    compiled = flink.run(query)
    assert compiled is not None
    assert list(flink.columns(query)) == ["country", "s", "n"]
    assert not compiled.plan.updating


@pytest.mark.parametrize(
    "query",
    [
        "SELECT u.country FROM clicks c RIGHT JOIN users u ON c.user_name = u.user_name",
        "SELECT u.country FROM users u FULL JOIN clicks c ON c.user_name = u.user_name",
    ],
)
def test_rows_of_a_static_table_that_match_nothing_in_a_stream(flink: Analysis, query: str) -> None:
    """A view of them can be defined: batch mode can read it."""
    flink.refuse(query, "JOIN-018")
    flink.run(f"CREATE VIEW kept AS {query}")
    flink.refuse("SELECT * FROM kept", "JOIN-018")
    flink.run("SET 'execution.runtime-mode' = 'batch'; SELECT * FROM kept")


def test_days_of_processing_time_need_a_clock_that_is_not_put_on(flink: Analysis) -> None:
    flink.run("SET 'table.local-time-zone' = 'Europe/Berlin'")
    window = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' DAY))"
    flink.refuse(f"SELECT COUNT(*) FROM {window} GROUP BY window_start, window_end", "WINDOW-013", "pt")


HOUR = 3_600_000


@pytest.mark.parametrize(
    ("zone", "function", "policy"),
    [
        ("Europe/Berlin", "TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' HOUR)", Tumble(HOUR)),
        ("Asia/Shanghai", "TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' DAY)", Tumble(24 * HOUR, 16 * HOUR)),
        (
            "Asia/Shanghai",
            "TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' DAY, INTERVAL '6' HOUR)",
            Tumble(24 * HOUR, 22 * HOUR),
        ),
        ("Asia/Kolkata", "TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' HOUR)", Tumble(HOUR, HOUR // 2)),
        ("GMT+05:30", "TUMBLE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' HOUR)", Tumble(HOUR, HOUR // 2)),
        (
            "Europe/Berlin",
            "HOP(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
            Hop(24 * HOUR, HOUR),
        ),
        (
            "Asia/Tokyo",
            "CUMULATE(TABLE clicks, DESCRIPTOR(pt), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
            Cumulate(24 * HOUR, HOUR, 15 * HOUR),
        ),
    ],
)
def test_windows_of_processing_time_go_by_the_clock_of_the_zone(
    flink: Analysis, zone: str, function: str, policy: object
) -> None:
    flink.run(f"SET 'table.local-time-zone' = '{zone}'")
    plan = flink.plan(f"SELECT window_start, COUNT(*) FROM TABLE({function}) GROUP BY window_start, window_end")
    assert isinstance(plan, Aggregate)
    assert plan.kept is not None
    assert (plan.kept.policy.window, plan.kept.given) == (policy, False)
    assert plan.columns[0].part is Part.LOCAL_START
