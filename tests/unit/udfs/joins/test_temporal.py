"""Temporal joins: each left row meets the version of its time, whatever the micro-batches are."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from join_model import KIND, LEFT_VALUE, RIGHT_VALUE, SIDE, TIME, TYPES, Row, folded, rows_of, steps

from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import Comparison, JoinKind, JoinSpecification, VersionBound
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

_BOTH = (JoinKind.INNER, JoinKind.LEFT)
_CONDITION = (Comparison(LEFT_VALUE, "<", RIGHT_VALUE),)


def operator(join: JoinKind = JoinKind.LEFT, conditions: tuple[Comparison, ...] = ()) -> JoinOperator:
    """Return a temporal join of the model's columns."""
    spec = JoinSpecification(1, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), join, KIND, conditions, bound=VersionBound(TIME))
    return JoinOperator(spec, TYPES)


@st.composite
def streams(draw: st.DrawFn) -> list[tuple[list[Row], Clock]]:
    """Return micro-batches of rows that are not late; the last one ends the input, and has them all if it is alone."""
    key = st.one_of(st.none(), st.integers(0, 2))
    batches: list[tuple[list[Row], Clock]] = []
    before: int | None = None
    marks = sorted(draw(st.lists(st.integers(0, 12), max_size=4)))
    for mark in [*marks, Clock.END]:
        rows = st.builds(
            lambda key, side, value, time, kind: Row(key, side, value, time, kind if side else INSERT),
            key,
            st.integers(0, 1),
            st.integers(0, 20),
            st.integers(before or 0, 15),
            st.sampled_from([INSERT, UPDATE_AFTER, UPDATE_BEFORE, DELETE]),
        )
        some = draw(st.lists(rows, max_size=6)) if mark != Clock.END or not marks else []
        batches.append((some, Clock(mark, before)))
        before = mark
    return batches


def model(rows: list[Row], join: JoinKind, *, conditioned: bool) -> Counter[tuple[object, ...]]:
    """Return each left row with its version."""
    result: Counter[tuple[object, ...]] = Counter()
    versions = [r for r in rows if r.side == 1 and r.kind != UPDATE_BEFORE and r.key is not None]
    for left in (r for r in rows if r.side == 0):
        # Of those at one time the last that came: sorting is stable.
        known = sorted((v for v in versions if v.key == left.key and v.time <= left.time), key=lambda v: v.time)
        found = known[-1] if known and known[-1].kind != DELETE else None
        if found is not None and conditioned and not left.value < found.value:  # type: ignore[operator]
            found = None
        if found is not None or join is JoinKind.LEFT:
            result[left.value, None if found is None else found.value] += 1
    return result


@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize("join", _BOTH)
@settings(max_examples=40, deadline=None)
@given(streams())
def test_versions(join: JoinKind, conditioned: bool, batches: list[tuple[list[Row], Clock]]) -> None:
    done = steps(operator(join, _CONDITION if conditioned else ()), batches)
    rows = [row for some, _ in batches for row in some]
    assert folded(s.out for s in done) == model(rows, join, conditioned=conditioned)
    assert all(kind == INSERT for s in done for *_, kind in rows_of(s.out))


def test_rows_wait_for_the_watermark() -> None:
    of = operator()
    rows = [Row(1, 0, 7, 10), Row(1, 1, 20, 10, UPDATE_AFTER), Row(1, 1, 21, 11, UPDATE_AFTER)]
    done = steps(of, [(rows, Clock(10)), (None, Clock(11, 10))])
    assert [rows_of(s.out) for s in done] == [[], [(7, 20, INSERT)]]
    assert [of.next_wakeup(s.state) for s in done] == [Wakeup(11), Wakeup()]


def test_old_versions_are_dropped() -> None:
    versions = [Row(1, 1, time, time, UPDATE_AFTER) for time in range(10)]
    done = steps(operator(), [(versions, Clock(5)), ([], Clock(8, 5)), ([Row(2, 0, 0, 20)], Clock(9, 8))])
    assert [s.open_groups for s in done] == [6, 6, 3], "nothing is done without rows"


def test_a_late_row_meets_what_is_held() -> None:
    """Flink does not drop late left rows (TemporalRowTimeJoinOperator registers a timer in the past)."""
    versions = [Row(1, 1, 10, 1, UPDATE_AFTER), Row(1, 1, 50, 5, UPDATE_AFTER)]
    late = [Row(1, 0, 3, 3), Row(1, 0, 6, 6)]
    done = steps(operator(), [(versions, Clock(20)), (late, Clock(20, 20))])
    assert rows_of(done[1].out) == [(3, None, INSERT), (6, 50, INSERT)]
    assert done[1].dropped_late == 0


def test_a_deleted_key_is_forgotten() -> None:
    versions = [Row(1, 1, 10, 1, INSERT), Row(1, 1, 10, 5, DELETE)]
    done = steps(operator(), [([*versions, Row(1, 0, 7, 4), Row(1, 0, 8, 5)], Clock(6))])
    assert rows_of(done[0].out) == [(7, 10, INSERT), (8, None, INSERT)]
    assert done[0].open_groups == 0


def test_what_a_left_changelog_takes_back_meets_the_same_version() -> None:
    batches = [
        ([Row(1, 1, 10, 1), Row(1, 0, 7, 4)], Clock(5)),
        ([Row(1, 0, 7, 4, UPDATE_BEFORE), Row(1, 0, 8, 4, UPDATE_AFTER)], Clock(6, 5)),
    ]
    assert rows_of(steps(operator(), batches)[1].out) == [(7, 10, DELETE), (8, 10, INSERT)]


def test_other_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="INNER or LEFT"):
        operator(JoinKind.FULL)
