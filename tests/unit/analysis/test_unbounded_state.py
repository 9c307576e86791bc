"""State that nothing bounds is named by EXPLAIN, and refused where that is asked for."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from sqlext.execution.unbounded import UnboundedStateWarning, warn_of_unbounded_state
from sqlext.plan.states import unbounded_states

from .conftest import Analysis

WINDOW = "TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '1' MINUTE))"
TOP = "SELECT page FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY page ORDER BY vt DESC) AS n FROM visits) WHERE n = 1"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("SELECT user_name, COUNT(*) FROM visits GROUP BY user_name", "GROUP BY user_name without a window"),
        ("SELECT DISTINCT user_name FROM visits", "DISTINCT of whole rows"),
        ("SELECT user_name FROM visits INTERSECT SELECT page FROM visits", "without a window"),
        ("SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY page)", "rows that change"),
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
        TOP,
    ],
)
def test_what_has_a_bound_goes_on(flink: Analysis, query: str) -> None:
    flink.run("SET 'sqlext.unbounded-state' = 'error'")
    flink.run(query)
    assert not list(unbounded_states(flink.plan(query)))


def test_a_warning_names_each_clause_once(flink: Analysis) -> None:
    plan = flink.plan("SELECT user_name, COUNT(*) FROM visits GROUP BY user_name")
    with pytest.warns(UnboundedStateWarning, match="GROUP BY user_name without a window") as warned:
        warn_of_unbounded_state([plan, plan])
    assert len(warned) == 1
