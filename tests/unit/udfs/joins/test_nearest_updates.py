"""As-of joins as an updating result: after each micro-batch it is the join of the rows that have come so far."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from join_model import LEFT_VALUE, RIGHT_VALUE, SIDE, TIME, TYPES, Row, folded, rows_of, steps
from nearest_model import NEAREST, nearest_model

from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import JoinKind, JoinSpecification, NearestBound
from sqlext_udfs.kernel.operator import Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER, UPDATE_BEFORE

Batches = list[tuple[list[Row], Clock]]


def operator(
    nearest: str = ">=",
    tolerance: int | None = None,
    join: JoinKind = JoinKind.LEFT,
    *,
    early: bool = True,
    lateness: int = 0,
) -> JoinOperator:
    """Return an updating as-of join of the model's columns."""
    bound = NearestBound(TIME, nearest, tolerance, early, lateness)
    return JoinOperator(JoinSpecification(1, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), join, bound=bound), TYPES)


@st.composite
def streams(draw: st.DrawFn) -> Batches:
    """Return micro-batches of rows of any time, also of late ones; the last one ends the input."""
    rows = st.builds(
        lambda key, side, value, time: Row(key, side, value, time),
        st.one_of(st.none(), st.integers(0, 1)),
        st.integers(0, 1),
        st.integers(0, 3),
        st.integers(0, 18),
    )
    batches: Batches = []
    before: int | None = None
    for mark in [*sorted(draw(st.lists(st.integers(0, 14), max_size=6))), Clock.END]:
        batches.append((draw(st.lists(rows, max_size=6)) if mark != Clock.END else [], Clock(mark, before)))
        before = mark
    return batches


def in_time(batches: Batches, lateness: int) -> list[list[Row]]:
    """Return the rows of each micro-batch that are not too late."""
    limits = [-1 if clock.late_watermark is None else clock.late_watermark - lateness for _, clock in batches]
    return [[r for r in rows if r.time >= limit] for (rows, _), limit in zip(batches, limits, strict=True)]


def check_changes(done: list[StepResult[Any]]) -> None:
    """Each row that is taken back is followed by what takes its place, of the same left row."""
    for step in done:
        rows = rows_of(step.out)
        old = [left for left, _, kind in rows if kind == UPDATE_BEFORE]
        assert old == [left for left, _, kind in rows if kind == UPDATE_AFTER]
        assert {kind for *_, kind in rows} <= {INSERT, UPDATE_BEFORE, UPDATE_AFTER}


@pytest.mark.parametrize("join", [JoinKind.INNER, JoinKind.LEFT])
@pytest.mark.parametrize("tolerance", [None, 0, 3])
@pytest.mark.parametrize("nearest", NEAREST)
@settings(max_examples=40, deadline=None)
@given(streams(), st.sampled_from([0, 2, 5, 30]))
def test_the_nearest_so_far(
    nearest: str, tolerance: int | None, join: JoinKind, batches: Batches, lateness: int
) -> None:
    done = steps(operator(nearest, tolerance, join, lateness=lateness), batches)
    accepted = in_time(batches, lateness)
    for n in range(1, len(batches) + 1):
        rows = [row for some in accepted[:n] for row in some]
        assert folded(s.out for s in done[:n]) == nearest_model(rows, nearest, tolerance, join), n
    check_changes(done)
    assert sum(s.dropped_late for s in done) == sum(
        # An inner join leaves rows without a key out before it looks at their time.
        sum(r.key is not None or (r.side == 0 and join is JoinKind.LEFT) for r in rows)
        - sum(r.key is not None or (r.side == 0 and join is JoinKind.LEFT) for r in kept)
        for (rows, _), kept in zip(batches, accepted, strict=True)
    )
    assert done[-1].open_groups <= 2, "of each key the last right row alone may stay"


@pytest.mark.parametrize("join", [JoinKind.INNER, JoinKind.LEFT])
@pytest.mark.parametrize("tolerance", [None, 3])
@pytest.mark.parametrize("nearest", NEAREST)
@settings(max_examples=40, deadline=None)
@given(streams(), st.sampled_from([1, 3, 30]))
def test_rows_come_in_time_and_late_ones_correct_them(
    nearest: str, tolerance: int | None, join: JoinKind, batches: Batches, lateness: int
) -> None:
    done = steps(operator(nearest, tolerance, join, early=False, lateness=lateness), batches)
    accepted = in_time(batches, lateness)
    for n in range(1, len(batches) + 1):
        rows = [row for some in accepted[:n] for row in some]
        out = folded(s.out for s in done[:n])
        # What has come out is right by the rows that there are; the rest waits for the watermark.
        assert out <= nearest_model(rows, nearest, tolerance, join), n
    assert out == nearest_model([row for some in accepted for row in some], nearest, tolerance, join)
    check_changes(done)


def test_no_row_is_replaced_that_the_watermark_has_made_sure() -> None:
    """Without lateness the result in time is that of the join that gives each row once."""
    batches = [([Row(1, 1, 20, 10), Row(1, 0, 7, 10)], Clock(11)), ([Row(1, 1, 21, 10)], Clock(12, 11))]
    done = steps(operator(), batches)
    assert [rows_of(s.out) for s in done] == [[(7, 20, INSERT)], []]
    assert done[1].dropped_late == 1


def test_a_better_right_row_replaces_what_came_out() -> None:
    batches: Batches = [
        ([Row(1, 0, 7, 10)], Clock(0)),
        ([Row(1, 1, 20, 3)], Clock(3, 0)),
        ([Row(1, 1, 21, 8), Row(1, 1, 22, 5)], Clock(8, 3)),
        ([Row(1, 1, 23, 4)], Clock(9, 8)),
    ]
    left = [rows_of(s.out) for s in steps(operator(), batches)]
    assert left == [
        [(7, None, INSERT)],
        [(7, None, UPDATE_BEFORE), (7, 20, UPDATE_AFTER)],
        [(7, 20, UPDATE_BEFORE), (7, 21, UPDATE_AFTER)],
        [],
    ]
    inner = [rows_of(s.out) for s in steps(operator(join=JoinKind.INNER), batches)]
    assert inner[:2] == [[], [(7, 20, INSERT)]]


def test_a_right_row_of_equal_values_changes_nothing() -> None:
    batches = [([Row(1, 1, 20, 3), Row(1, 0, 7, 10)], Clock(0)), ([Row(1, 1, 20, 8)], Clock(3, 0))]
    assert [rows_of(s.out) for s in steps(operator(), batches)] == [[(7, 20, INSERT)], []]


def test_a_late_right_row_corrects_within_the_lateness() -> None:
    batches: Batches = [
        ([Row(1, 1, 20, 3), Row(1, 0, 7, 10)], Clock(12)),
        ([Row(1, 1, 21, 9)], Clock(12, 12)),
        ([Row(1, 1, 22, 6)], Clock(30, 12)),
    ]
    done = steps(operator(early=False, lateness=5), batches)
    assert [rows_of(s.out) for s in done] == [[(7, 20, INSERT)], [(7, 20, UPDATE_BEFORE), (7, 21, UPDATE_AFTER)], []]
    assert [s.dropped_late for s in done] == [0, 0, 1]
    assert [s.open_groups for s in done] == [2, 3, 1]


def test_when_it_wakes() -> None:
    early, late = operator("<=", 30, lateness=5), operator(early=False, lateness=5)
    waits = [steps(of, [([Row(1, 0, 7, 10)], Clock(8))])[0].state for of in (early, late)]
    assert [early.next_wakeup(waits[0]), late.next_wakeup(waits[1])] == [Wakeup(46), Wakeup(11)]
    given_out = steps(late, [([Row(1, 0, 7, 10)], Clock(12))])[0]
    assert late.next_wakeup(given_out.state) == Wakeup(16)
    assert late.next_wakeup(late.empty()) == Wakeup()


def test_state_goes_by_watermark_and_tolerance() -> None:
    rows = [Row(1, side, time, time) for time in range(10) for side in (0, 1)]
    for nearest, tolerance, lateness, left, right in (
        (">=", None, 0, 4, 5),
        ("<=", 5, 2, 6, 6),
        ("NEAREST", 2, 0, 4, 5),
    ):
        state = steps(operator(nearest, tolerance, lateness=lateness), [(rows, Clock(6))])[0].state
        assert (len(state.left), len(state.right)) == (left, right), nearest


def test_counters_of_equal_left_rows() -> None:
    batches = [([Row(1, 0, 7, 10)] * 2, Clock(0)), ([Row(1, 1, 20, 3)], Clock(3, 0))]
    done = steps(operator(), batches)
    assert folded(s.out for s in done) == Counter({(7, 20): 2})
