"""SESSION with a gap of each row: what is one, and what is refused."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import ComputeGap
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

TVF = "SELECT user_name, COUNT(*) AS n FROM TABLE(SESSION(TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), {gap}))"
TVF += " GROUP BY user_name, window_start, window_end"
LEGACY = "SELECT user_name, SESSION_END(ts, {gap}) AS e FROM clicks GROUP BY user_name, SESSION(ts, {gap})"
GAPS = ["amount * INTERVAL '1' SECOND", "CASE WHEN amount > 1 THEN INTERVAL '9' SECOND ELSE INTERVAL '1' MINUTE END"]


@pytest.mark.parametrize("query", [TVF, LEGACY])
@pytest.mark.parametrize("gap", [*GAPS, "amount", "amount * 1000"])
def test_the_operator_gets_the_gap_in_milliseconds(flink: Analysis, query: str, gap: str) -> None:
    compiled = flink.run(query.format(gap=gap))
    assert compiled is not None
    (operator,) = (s for s in compiled.script.steps if isinstance(s, OperatorView))
    assert dict(dict(operator.arguments)["places"])["gap"] == 2  # type: ignore[call-overload]
    node = next(n for n in walk(compiled.plan) if isinstance(n, ComputeGap))
    assert node.interval is ("INTERVAL" in gap)


def test_a_literal_is_no_gap_of_each_row(flink: Analysis) -> None:
    plan = flink.plan(TVF.format(gap="INTERVAL '10' SECOND"))
    assert all(not isinstance(n, ComputeGap) for n in walk(plan))
    assert all(n.kept is None for n in walk(plan) if isinstance(n, Aggregate))


def test_the_gap_is_no_column_of_the_result(flink: Analysis) -> None:
    query = "SELECT * FROM TABLE(SESSION(TABLE visits, DESCRIPTOR(vt), CHAR_LENGTH(page)))"
    assert list(flink.columns(query)) == ["user_name", "page", "vt", "window_start", "window_end", "window_time"]


def test_sessions_of_other_keys_are_made_first(flink: Analysis) -> None:
    """Grouped without the key that they are made by: the rows find their sessions in an operator of their own."""
    compiled = flink.run(
        TVF.format(gap="amount").replace("user_name, COUNT", "COUNT").replace("BY user_name, w", "BY w")
    )
    assert compiled is not None
    (operator,) = (s for s in compiled.script.steps if isinstance(s, OperatorView))
    places = dict(dict(operator.arguments)["places"])  # type: ignore[call-overload]
    assert places == {"keys": 1, "time": 1, "gap": 2}


def test_explain_shows_the_gap(flink: Analysis) -> None:
    text = as_text(flink.plan(TVF.format(gap="amount * 1000")))
    assert "AssignWindows(SESSION(a gap of each row) on ts)" in text
    assert "ComputeGap(amount * 1000 of each row)" in text


@pytest.mark.parametrize("query", [TVF, LEGACY])
@pytest.mark.parametrize(
    ("gap", "code"),
    [
        ("5", "WINDOW-003"),
        ("'10 minutes'", "WINDOW-003"),
        ("user_name", "WINDOW-003"),
        ("amount * 1.5", "WINDOW-003"),
        ("SUM(amount)", "WINDOW-003"),
        ("(SELECT MAX(amount) FROM users)", "WINDOW-003"),
        ("amount * INTERVAL '1' MONTH", "WINDOW-002"),
        ("INTERVAL '1' MONTH", "WINDOW-002"),
        ("nope", "NAME-003"),
    ],
)
def test_refused(flink: Analysis, query: str, gap: str, code: str) -> None:
    flink.refuse(query.format(gap=gap), code)
