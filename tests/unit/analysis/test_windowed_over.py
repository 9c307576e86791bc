"""OVER by a window of time: what is computed when it is over, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.over import Over, RunningOver, WindowedOver
from sqlext.plan.ranking import Rank
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

WINDOWS = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
BY = "PARTITION BY window_start, window_end"
GROUPS = f"""(SELECT user_name, window_start, window_end, window_time, SUM(amount) AS n FROM {WINDOWS}
GROUP BY user_name, window_start, window_end, window_time)"""
ALL = 1 << 40


def _calls(analysis: Analysis, query: str) -> list[Any]:
    """Return what the operators compute, the lowest first."""
    compiled = analysis.run(query)
    assert compiled is not None
    operators = [s for s in compiled.script.steps if isinstance(s, OperatorView) and s.function == "window_over"]
    return [dict(dict(o.arguments)["specification"])["calls"] for o in operators]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("item", "call", "frame"),
    [
        (f"NTILE(4) OVER ({BY} ORDER BY n DESC)", "ntile", ("RANGE", ALL)),
        (f"PERCENT_RANK() OVER ({BY} ORDER BY n)", "percent_rank", ("RANGE", ALL)),
        (f"CUME_DIST() OVER ({BY} ORDER BY n, user_name DESC)", "cume_dist", ("RANGE", ALL)),
        (f"NTH_VALUE(user_name, 2) OVER ({BY} ORDER BY n)", "nth_value", ("RANGE", ALL)),
        (f"LEAD(user_name, 2) OVER ({BY} ORDER BY n)", "lead", ("ROWS", 0, 2)),
        (f"LEAD(n) OVER ({BY} ORDER BY window_time)", "lead", ("ROWS", 0, 1)),
        (f"SUM(n) OVER ({BY})", "sum", ("RANGE", ALL)),
        (f"MAX(n) OVER ({BY} ORDER BY n DESC)", "max", ("RANGE", ALL)),
        (f"LAG(n) OVER ({BY} ORDER BY n DESC)", "lag", ("ROWS", None)),
        (f"FIRST_VALUE(user_name) OVER ({BY} ORDER BY n)", "first", ("RANGE", ALL)),
        (f"MIN(n) OVER ({BY} ORDER BY n ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", "min", ("ROWS", 1, 1)),
        (f"MIN(n) OVER ({BY} ORDER BY n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)", "min", ("ROWS", 0, ALL)),
        (
            f"MIN(n) OVER ({BY} ORDER BY n RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
            "min",
            ("RANGE", ALL, ALL),
        ),
        (f"COUNT(DISTINCT n) OVER ({BY})", "count", ("RANGE", ALL)),
    ],
)
def test_what_is_computed_when_the_window_is_over(
    flink: Analysis, item: str, call: str, frame: tuple[object, ...]
) -> None:
    query = f"SELECT user_name, window_end, {item} AS r FROM {GROUPS}"
    ((found, *_),) = _calls(flink, query)
    assert (found[0], found[2]) == (call, frame)
    plan = flink.plan(query)
    assert not plan.changelog
    assert not plan.updating


def test_over_rows_of_windows_and_with_more_keys(flink: Analysis) -> None:
    query = f"SELECT user_name, CUME_DIST() OVER ({BY}, user_name ORDER BY amount) AS c FROM {WINDOWS}"
    plan = flink.plan(query)
    (node,) = (n for n in walk(plan) if isinstance(n, WindowedOver))
    assert (len(node.partition), node.grows) == (1, False)
    text = as_text(plan)
    assert "OVER by the window, user_name; state: rows until their window ends" in text


def test_calls_alike_share_an_operator_and_ranks_join_them(flink: Analysis) -> None:
    query = f"""SELECT NTILE(2) OVER w AS t, RANK() OVER w AS r, SUM(n) OVER w AS s, SUM(n) OVER ({BY}) AS total
    FROM {GROUPS} WINDOW w AS ({BY} ORDER BY n)"""
    assert [[c[0] for c in calls] for calls in _calls(flink, query)] == [["ntile", "rank", "sum", "sum"]]


def test_what_was_known_before_stays_as_it_is(flink: Analysis) -> None:
    """An updating result in the order of a value, a Window Top-N, and OVER by time."""
    running = flink.plan(f"SELECT SUM(n) OVER ({BY} ORDER BY n) AS s FROM {GROUPS}")
    assert any(isinstance(n, RunningOver) for n in walk(running))
    ranked = f"SELECT * FROM (SELECT *, ROW_NUMBER() OVER ({BY} ORDER BY n DESC) AS r FROM {GROUPS}) WHERE r <= 2"
    assert any(isinstance(n, Rank) for n in walk(flink.plan(ranked)))
    timed = flink.plan(f"SELECT SUM(n) OVER ({BY} ORDER BY window_time) AS s FROM {GROUPS}")
    assert any(isinstance(n, Over) for n in walk(timed))


def test_the_time_of_the_window_stays_one(flink: Analysis) -> None:
    query = f"SELECT window_time, PERCENT_RANK() OVER ({BY} ORDER BY n) AS p FROM {GROUPS}"
    assert flink.times(query) == {"window_time": "ROWTIME"}


@pytest.mark.parametrize(
    ("item", "code", "at"),
    [
        (f"NTILE(0) OVER ({BY} ORDER BY n)", "OVER-104", "0)"),
        (f"NTH_VALUE(n, 0) OVER ({BY} ORDER BY n)", "OVER-104", "0)"),
        (f"NTH_VALUE(n, n) OVER ({BY} ORDER BY n)", "OVER-104", "n) OVER"),
        (f"NTILE(2) OVER ({BY})", "OVER-002", None),
        (f"LEAD(n) OVER ({BY})", "OVER-002", None),
        (f"LEAD(n, 1, 'x') OVER ({BY} ORDER BY n)", "OVER-104", "'x'"),
        (f"NTILE(2) OVER ({BY} ORDER BY n ROWS 1 PRECEDING)", "OVER-110", "ROWS"),
        (f"LEAD(n) OVER ({BY} ORDER BY n ROWS 1 PRECEDING)", "OVER-110", "ROWS"),
        (f"UPPER(user_name) OVER ({BY})", "OVER-103", "UPPER"),
        (f"SUM(n + NTILE(2) OVER ({BY} ORDER BY n)) OVER ({BY})", "OVER-101", "NTILE"),
        (f"SUM(n) OVER ({BY} ORDER BY n DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "OVER-112", "1 P"),
        (f"SUM(n) OVER ({BY} ORDER BY n DESC ROWS BETWEEN 2 FOLLOWING AND CURRENT ROW)", "OVER-111", "2 F"),
        (f"SUM(n) OVER ({BY} ORDER BY n DESC ROWS INTERVAL '1' SECOND PRECEDING)", "OVER-113", None),
        ("NTILE(2) OVER (PARTITION BY window_start ORDER BY n)", "OVER-102", "NTILE"),
        ("PERCENT_RANK() OVER (PARTITION BY user_name ORDER BY window_time)", "OVER-102", "PERCENT_RANK"),
    ],
)
def test_refusals(flink: Analysis, item: str, code: str, at: str | None) -> None:
    flink.refuse(f"SELECT {item} FROM {GROUPS}", code, at)


def test_not_by_the_clock_and_not_of_rows_that_change(flink: Analysis) -> None:
    by_clock = WINDOWS.replace("(ts)", "(pt)")
    flink.refuse(f"SELECT NTILE(2) OVER ({BY} ORDER BY amount) FROM {by_clock}", "OVER-102")
    early = GROUPS.replace("window_time)", "window_time EMIT AFTER WATERMARK EARLY EVERY ROW)")
    flink.refuse(f"SELECT NTILE(2) OVER ({BY} ORDER BY n) FROM {early}", "OVER-107")
