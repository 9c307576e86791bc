"""State that nothing bounds is named by EXPLAIN, and refused where that is asked for."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from sqlext.plan.explain import as_text
from sqlext.plan.stateful import unbounded_states
from sqlext.session.notices import UnboundedStateWarning, warn_of_unbounded_state

from .conftest import Analysis

WINDOW = "TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '1' MINUTE))"
TOP = "SELECT page FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY page ORDER BY vt DESC) AS n FROM visits) WHERE n = 1"
OVER = "SELECT COUNT(*) OVER (PARTITION BY page ORDER BY vt) AS n FROM visits"
BY_KEY = "OVER (PARTITION BY page ORDER BY vt)"
BY_TIME = "OVER (PARTITION BY page ORDER BY vt RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW)"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("SELECT user_name, COUNT(*) FROM visits GROUP BY user_name", "GROUP BY user_name without a window"),
        ("SELECT DISTINCT user_name FROM visits", "DISTINCT of whole rows"),
        ("SELECT user_name FROM visits INTERSECT SELECT page FROM visits", "without a window"),
        ("SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY page)", "rows that change"),
        # New keys come as long as the query runs, and each keeps its rows.
        (TOP, "Top-1 by page"),
        (OVER, "OVER by page"),
        (f"SELECT LAG(user_name) {BY_KEY} FROM visits", "OVER by page"),
        (f"SELECT ROW_NUMBER() {BY_KEY} FROM visits", "OVER by page"),
        ("SELECT /*+ STATE_TTL('a' = '1d') */ a.page FROM visits AS a JOIN visits AS b ON a.page = b.page", "join"),
    ],
)
def test_refused_where_asked_for(flink: Analysis, query: str, named: str) -> None:
    assert any(named in state.what for state in unbounded_states(flink.plan(query)))
    flink.run("SET 'sqlext.unbounded-state' = 'error'")
    with pytest.raises(SqlExtError) as refused:
        flink.run(query)
    assert refused.value.code == "STATE-001"
    assert refused.value.span is not None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT page FROM visits",
        "SELECT COUNT(*) FROM visits",
        "SELECT page FROM visits ORDER BY vt",
        "SELECT /*+ STATE_TTL('a' = '1d', 'b' = '1d') */ a.page FROM visits AS a JOIN visits AS b ON a.page = b.page",
        f"SELECT page, COUNT(*) FROM {WINDOW} GROUP BY page, window_start, window_end",
        TOP.replace("PARTITION BY page ", ""),
        TOP.replace("PARTITION BY page", "PARTITION BY window_start, window_end, page").replace("visits", WINDOW),
        OVER.replace("PARTITION BY page ", ""),
        f"SELECT COUNT(*) {BY_TIME} FROM visits",
    ],
)
def test_what_has_a_bound_goes_on(flink: Analysis, query: str) -> None:
    flink.run("SET 'sqlext.unbounded-state' = 'error'")
    flink.run(query)
    assert not list(unbounded_states(flink.plan(query)))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT user_name, COUNT(*) FROM visits GROUP BY user_name", "state:         for 86400000 ms"),
        ("SELECT DISTINCT user_name FROM visits", "stateful function distinct; state: for 86400000 ms"),
        ("SELECT user_name FROM visits UNION SELECT page FROM visits", "distinct; state: for 86400000 ms"),
        ("SELECT user_name FROM visits INTERSECT SELECT page FROM visits", "state:         for 86400000 ms"),
        ("SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY page)", "state:         for 86400000 ms"),
        (TOP, "1 row of each key, for 86400000 ms"),
        (OVER, "partial results of each key, for 86400000 ms"),
        ("SELECT a.page FROM visits AS a JOIN visits AS b ON a.page = b.page", "left rows for 86400000 ms"),
    ],
)
def test_a_time_to_live_is_a_bound(flink: Analysis, query: str, said: str) -> None:
    flink.run("SET 'sqlext.unbounded-state' = 'error'; SET 'table.exec.state.ttl' = '1 d'")
    plan = flink.plan(query)
    assert not list(unbounded_states(plan))
    assert said in as_text(plan)


def test_the_hint_is_for_group_by_too(flink: Analysis) -> None:
    """By the table's name or its alias; 0 is for ever, whatever the setting says."""
    query = "SELECT /*+ STATE_TTL('v' = '{}') */ page, COUNT(*) FROM visits AS v GROUP BY page"
    assert not list(unbounded_states(flink.plan(query.format("1 h"))))
    flink.run("SET 'table.exec.state.ttl' = '1 d'")
    assert "for 3600000 ms" in as_text(flink.plan(query.format("1 h")))
    assert list(unbounded_states(flink.plan(query.format("0"))))


def test_frames_that_end_in_time_need_no_time_to_live(flink: Analysis) -> None:
    flink.run("SET 'table.exec.state.ttl' = '1 d'")
    text = as_text(flink.plan(f"{OVER[: -len(' FROM visits')]}, COUNT(*) {BY_TIME} AS m FROM visits"))
    assert "partial results of each key, for 86400000 ms" in text
    assert "rows of 60000 ms)" in text


def test_windows_and_emit_say_themselves_what_they_keep(flink: Analysis) -> None:
    flink.run("SET 'table.exec.state.ttl' = '1 d'")
    windowed = f"SELECT page, COUNT(*) FROM {WINDOW} GROUP BY page, window_start, window_end"
    emitting = "SELECT page, COUNT(*) FROM visits GROUP BY page EMIT AFTER 10 ROWS"
    for query in (windowed, emitting):
        assert "86400000" not in as_text(flink.plan(query))


def test_a_text_that_is_no_duration(flink: Analysis) -> None:
    flink.refuse("SELECT /*+ STATE_TTL('v' = 'soon') */ page FROM visits AS v GROUP BY page", "JOIN-006")


def test_a_warning_names_each_clause_once(flink: Analysis) -> None:
    plan = flink.plan("SELECT user_name, COUNT(*) FROM visits GROUP BY user_name")
    with pytest.warns(UnboundedStateWarning, match="GROUP BY user_name without a window") as warned:
        warn_of_unbounded_state([plan, plan])
    assert len(warned) == 1
