"""Interval and window joins: results do not depend on micro-batches, and come when they are due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from join_model import KIND, LEFT_VALUE, RIGHT_VALUE, SIDE, TIME, TYPES, Row, folded, model, rows_of, steps

from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import (
    ArrivalBound,
    Bound,
    Comparison,
    IntervalBound,
    JoinKind,
    JoinSpecification,
    WindowBound,
)
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT

_FEW = settings(max_examples=40, deadline=None)
#: In these tests a row's value is its time, and both sides match within two of each other.
_REACH = 2
_SMALL = st.one_of(st.none(), st.integers(0, 2))


def operator(
    join: JoinKind, bound: Bound, conditions: tuple[Comparison, ...] = (), kind: int | None = None
) -> JoinOperator:
    """Return a join of the model's columns."""
    right = (RIGHT_VALUE,) if join.pairs else ()
    spec = JoinSpecification(1, SIDE, (LEFT_VALUE,), right, join, kind, conditions, False, bound)
    return JoinOperator(spec, TYPES)


def interval(join: JoinKind) -> JoinOperator:
    """Return a join where the left value is at most the right value."""
    return operator(join, IntervalBound(TIME), (Comparison(LEFT_VALUE, "<=", RIGHT_VALUE),))


def clocks(marks: Sequence[int | None]) -> list[Clock]:
    """Return the clocks of micro-batches by their watermarks."""
    return [Clock(mark, before) for mark, before in zip(marks, [None, *marks[:-1]], strict=True)]


@st.composite
def streams(draw: st.DrawFn) -> list[tuple[list[Row], Clock]]:
    """Return micro-batches of rows that are not late, in windows of ten; the last one ends the input.

    It may be the only one: then it has all rows (``processors.at_once``).
    """
    marks: list[int] = sorted(draw(st.lists(st.integers(0, 40), max_size=4)))
    batches: list[tuple[list[Row], Clock]] = []
    before: int | None = None
    for mark in [*marks, Clock.END]:
        rows = draw(st.lists(st.tuples(_SMALL, st.integers(0, 1), st.integers(max(before or 0, 0), 60)), max_size=8))
        made = [Row(key, side, time, time) for key, side, time in rows] if mark != Clock.END or not marks else []
        batches.append((made, Clock(mark, before)))
        before = mark
    return batches


def _within(row: Row) -> Row:
    """Return a row of an interval join: a left row may match right ones at most ``_REACH`` later."""
    return row._replace(time=row.time + (_REACH if row.side == 0 else 0))


@pytest.mark.parametrize("join", JoinKind)
@_FEW
@given(streams())
def test_interval(join: JoinKind, batches: list[tuple[list[Row], Clock]]) -> None:
    conditions = (Comparison(LEFT_VALUE, "<=", RIGHT_VALUE), Comparison(TIME, ">=", RIGHT_VALUE))
    made = [([_within(row) for row in rows], clock) for rows, clock in batches]
    done = steps(operator(join, IntervalBound(TIME), conditions), made)
    rows = [row for some, _ in made for row in some]
    assert all(kind == INSERT for s in done for *_, kind in rows_of(s.out))
    assert folded(s.out for s in done) == model(rows, join, conditions)
    assert done[-1].open_groups == 0


@pytest.mark.parametrize("kind", [None, KIND])
@pytest.mark.parametrize("join", JoinKind)
@_FEW
@given(streams())
def test_window(join: JoinKind, kind: int | None, batches: list[tuple[list[Row], Clock]]) -> None:
    windowed = [
        ([row._replace(key=_window_key(row), time=row.time // 10 * 10 + 10) for row in rows], clock)
        for rows, clock in batches
    ]
    done = steps(operator(join, WindowBound(TIME), kind=kind), windowed)
    rows = [row for some, _ in windowed for row in some]
    assert all(kind == INSERT for s in done for *_, kind in rows_of(s.out))
    assert folded(s.out for s in done) == model(rows, join)
    assert done[-1].open_groups == 0
    assert not any(s.dropped_late for s in done)


def _window_key(row: Row) -> int | None:
    return None if row.key is None else row.key * 1000 + row.time // 10


def test_interval_rows_come_out_padded_once_they_expire() -> None:
    of = interval(JoinKind.FULL)
    batches = [[Row(1, 0, 1, 10), Row(2, 1, 2, 12)], [Row(1, 1, 5, 9)], [], []]
    done = steps(of, list(zip(batches, clocks([5, 10, 11, 13]), strict=True)))
    assert [rows_of(s.out) for s in done] == [[], [(1, 5, INSERT)], [], [(None, 2, INSERT)]]
    assert [of.next_wakeup(s.state) for s in done] == [Wakeup(11), Wakeup(11), Wakeup(13), Wakeup()]


def test_a_late_row_of_an_interval_join_meets_what_is_held() -> None:
    done = steps(
        interval(JoinKind.LEFT),
        list(zip([[Row(1, 1, 5, 100)], [], [Row(1, 0, 1, 10), Row(1, 0, 9, 10)]], clocks([1, 50, 50]), strict=True)),
    )
    assert rows_of(done[2].out) == [(1, 5, INSERT), (9, None, INSERT)]
    assert done[2].open_groups == 1


def test_what_expired_is_not_met_although_the_bucket_was_not_called() -> None:
    done = steps(interval(JoinKind.LEFT), [([Row(1, 0, 1, 10)], Clock(5)), ([Row(1, 1, 5, 100)], Clock(30, 20))])
    assert rows_of(done[1].out) == [(1, None, INSERT)]


def test_exists_within_an_interval_comes_once() -> None:
    batches = [[Row(1, 0, 1, 10)], [Row(1, 1, 5, 10), Row(1, 1, 6, 10)], [Row(1, 1, 7, 10)]]
    done = steps(interval(JoinKind.SEMI), list(zip(batches, clocks([1, 2, 3]), strict=True)))
    assert [rows_of(s.out) for s in done] == [[], [(1, INSERT)], []]


def test_an_interval_join_takes_no_updates() -> None:
    with pytest.raises(ValueError, match="does not take updates"):
        operator(JoinKind.INNER, IntervalBound(TIME), kind=KIND)


def test_a_window_gives_its_result_once_when_it_is_over() -> None:
    of = operator(JoinKind.FULL, WindowBound(TIME))
    batches = [[Row(1, 0, 1, 10), Row(None, 0, 2, 10)], [Row(1, 1, 5, 10)], [], [Row(1, 1, 6, 10), Row(2, 1, 7, 20)]]
    done = steps(of, list(zip(batches, clocks([5, 9, 10, 20]), strict=True)))
    assert [rows_of(s.out) for s in done] == [
        [],
        [],
        [(1, 5, INSERT), (2, None, INSERT)],
        [(None, 7, INSERT)],
    ]
    assert [s.dropped_late for s in done] == [0, 0, 0, 1]
    assert of.next_wakeup(done[1].state) == Wakeup(10)


def test_a_window_counts_changes() -> None:
    batches = [[Row(1, 0, 1, 10), Row(1, 0, 1, 10)], [Row(1, 0, 1, 10, DELETE), Row(1, 1, 5, 10)], []]
    done = steps(
        operator(JoinKind.INNER, WindowBound(TIME), kind=KIND), list(zip(batches, clocks([1, 2, 10]), strict=True))
    )
    assert rows_of(done[2].out) == [(1, 5, INSERT)]


def arrivals(join: JoinKind, lower: int, upper: int) -> JoinOperator:
    return operator(join, ArrivalBound(lower, upper))


def given_at(
    made: JoinOperator, batches: Sequence[tuple[int, Sequence[Row]]], *, end: bool = False
) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each batch; each comes when the clock says so."""
    fed = [(rows or None, Clock(now=now)) for now, rows in batches]
    last = [(None, Clock(Clock.END, None, batches[-1][0]))] if end else []
    return [sorted((row[:-1] for row in rows_of(s.out)), key=repr) for s in steps(made, [*fed, *last])]


def test_rows_that_come_in_time_match() -> None:
    """Right rows come from 100 ms before to 200 ms after left ones."""
    batches = [
        (0, [Row(1, 1, 10)]),
        (100, [Row(1, 0, 20)]),
        (101, [Row(1, 0, 21)]),
        (300, [Row(1, 1, 11)]),
        (302, [Row(1, 1, 12)]),
    ]
    assert given_at(arrivals(JoinKind.INNER, -100, 200), batches) == [[], [(20, 10)], [], [(20, 11), (21, 11)], []]


def test_rows_that_must_come_later() -> None:
    """Right rows come 100 to 200 ms after left ones: neither at once nor before them."""
    batches = [(0, [Row(1, 0, 20), Row(1, 1, 10)]), (99, [Row(1, 1, 11)]), (100, [Row(1, 1, 12)]), (201, [])]
    assert given_at(arrivals(JoinKind.INNER, 100, 200), batches) == [[], [], [(20, 12)], []]
    state = steps(arrivals(JoinKind.INNER, 100, 200), [(batches[0][1], Clock(now=0))])[0].state
    assert state.rows() == 1  # the right row can match nothing


def test_rows_without_a_match_come_out_when_they_can_have_none() -> None:
    made = arrivals(JoinKind.FULL, -100, 100)
    batches = [(0, [Row(1, 0, 20), Row(2, 1, 10)]), (100, []), (101, []), (150, [Row(1, 0, 21)])]
    outs = given_at(made, batches, end=True)
    assert [Counter(rows) for rows in outs] == [
        Counter(),
        Counter(),
        Counter([(20, None), (None, 10)]),
        Counter(),
        Counter([(21, None)]),
    ]
    state = steps(made, [([Row(1, 0, 20)], Clock(now=5))])[0].state
    assert made.next_wakeup(state) == Wakeup(processing=106)
