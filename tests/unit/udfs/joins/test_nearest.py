"""As-of joins: each left row meets the right row of its key that is nearest in time, whatever the micro-batches are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from join_model import LEFT_VALUE, RIGHT_VALUE, SIDE, TIME, TYPES, Row, folded, rows_of, steps
from nearest_model import NEAREST, nearest_model

from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import Comparison, JoinKind, JoinSpecification, NearestBound
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.kernel.row_kinds import INSERT


def operator(nearest: str = ">=", tolerance: int | None = None, join: JoinKind = JoinKind.LEFT) -> JoinOperator:
    """Return an as-of join of the model's columns."""
    bound = NearestBound(TIME, nearest, tolerance)
    return JoinOperator(JoinSpecification(1, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), join, bound=bound), TYPES)


@st.composite
def streams(draw: st.DrawFn) -> list[tuple[list[Row], Clock]]:
    """Return micro-batches of rows that are not late; the last one ends the input."""
    batches: list[tuple[list[Row], Clock]] = []
    before: int | None = None
    marks = sorted(draw(st.lists(st.integers(0, 14), max_size=5)))
    for mark in [*marks, Clock.END]:
        rows = st.builds(
            lambda key, side, value, time: Row(key, side, value, time),
            st.one_of(st.none(), st.integers(0, 1)),
            st.integers(0, 1),
            st.integers(0, 99),
            st.integers(before or 0, 18),
        )
        batches.append(
            (draw(st.lists(rows, max_size=6)) if mark != Clock.END or not marks else [], Clock(mark, before))
        )
        before = mark
    return batches


@pytest.mark.parametrize("join", [JoinKind.INNER, JoinKind.LEFT])
@pytest.mark.parametrize("tolerance", [None, 0, 3])
@pytest.mark.parametrize("nearest", NEAREST)
@settings(max_examples=25, deadline=None)
@given(streams())
def test_the_nearest(
    nearest: str, tolerance: int | None, join: JoinKind, batches: list[tuple[list[Row], Clock]]
) -> None:
    done = steps(operator(nearest, tolerance, join), batches)
    rows = [row for some, _ in batches for row in some]
    assert folded(s.out for s in done) == nearest_model(rows, nearest, tolerance, join)
    assert all(kind == INSERT for s in done for *_, kind in rows_of(s.out))
    assert sum(s.dropped_late for s in done) == 0
    assert done[-1].open_groups <= 2, "of each key the last right row alone may stay"


def test_a_row_that_looks_back_waits_for_its_own_time() -> None:
    of = operator()
    done = steps(of, [([Row(1, 0, 7, 10), Row(1, 1, 20, 10), Row(1, 1, 21, 11)], Clock(10)), (None, Clock(11, 10))])
    assert [rows_of(s.out) for s in done] == [[], [(7, 20, INSERT)]]
    assert [of.next_wakeup(s.state) for s in done] == [Wakeup(11), Wakeup()]


def test_a_row_that_looks_ahead_waits_for_what_it_has_found() -> None:
    of = operator("<=", 30)
    done = steps(of, [([Row(1, 0, 7, 10)], Clock(11)), ([Row(1, 1, 20, 15)], Clock(12, 11)), (None, Clock(16, 12))])
    assert [rows_of(s.out) for s in done] == [[], [], [(7, 20, INSERT)]]
    assert [of.next_wakeup(s.state) for s in done] == [Wakeup(41), Wakeup(16), Wakeup()]


def test_a_row_that_looks_ahead_gives_up_after_the_tolerance() -> None:
    done = steps(operator("<", 5), [([Row(1, 0, 7, 10)], Clock(15)), (None, Clock(16, 15))])
    assert [rows_of(s.out) for s in done] == [[], [(7, None, INSERT)]]


def test_either_side_waits_no_longer_than_what_is_behind() -> None:
    done = steps(operator("NEAREST"), [([Row(1, 1, 20, 8), Row(1, 0, 7, 10)], Clock(12)), (None, Clock(13, 12))])
    assert [rows_of(s.out) for s in done] == [[], [(7, 20, INSERT)]]


def test_right_rows_that_nobody_can_ask_for_are_forgotten() -> None:
    rows = [Row(1, 1, time, time) for time in range(10)]
    kept = {
        nearest: steps(operator(nearest, tolerance), [(rows, Clock(6))])[0].open_groups
        for nearest, tolerance in ((">=", None), ("<=", 5), ("NEAREST", 2))
    }
    assert kept == {">=": 5, "<=": 4, "NEAREST": 5}


def test_a_key_without_new_rows_is_forgotten_after_the_tolerance() -> None:
    done = steps(operator(">=", 5), [([Row(1, 1, 20, 10)], Clock(15)), ([Row(2, 1, 1, 20)], Clock(16, 15))])
    assert [s.open_groups for s in done] == [1, 1]


def test_late_rows_are_dropped_and_counted() -> None:
    late = [Row(1, 0, 3, 19), Row(1, 1, 50, 19), Row(1, 0, 4, 20)]
    done = steps(operator(), [([Row(1, 1, 10, 1)], Clock(20)), (late, Clock(21, 20))])
    assert rows_of(done[1].out) == [(4, 10, INSERT)]
    assert done[1].dropped_late == 2


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="INNER or LEFT"):
        operator(join=JoinKind.FULL)
    condition = (Comparison(LEFT_VALUE, "<", RIGHT_VALUE),)
    with pytest.raises(ValueError, match="nothing but keys"):
        JoinSpecification(1, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), conditions=condition, bound=NearestBound(TIME, ">="))
