"""The match operator: order, time, state, what a match gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions.trees import Cell, Classifier, Compare, MatchNumber
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.matching.operator import MatchOperator
from sqlext_udfs.matching.pattern import Choice, Concatenation, Repeat, Variable
from sqlext_udfs.matching.rows import MatchState
from sqlext_udfs.matching.specification import FIRST, LAST, NEXT, MatchSpecification, Order, Skip, Total

TYPES = [pa.string(), pa.int64(), pa.int64()]
VALUE = 0
A, B, BOTH = 0, 1, 2
#: A then a larger B; the matched values come out.
RISE = MatchSpecification(
    keys=1,
    variables=("A", "B"),
    pattern=Concatenation((Variable(A), Variable(B))),
    conditions=(None, Compare(">", Cell(VALUE, B), Cell(VALUE, A))),
    values=(2,),
    measures=(Cell(VALUE, A), Cell(VALUE, B)),
    time=1,
)
#: As many B as there are behind an A, each larger than the one before.
RUN = replace(
    RISE,
    pattern=Concatenation((Variable(A), Repeat(Variable(B), 0, None))),
    conditions=(None, Compare(">", Cell(VALUE, B), Cell(VALUE, BOTH, offset=1))),
    measures=(Cell(VALUE, A), Cell(VALUE, BOTH)),
    standard=True,
)


def _rows(*rows: tuple[Any, int, int | None]) -> pa.Table:
    columns = [pa.array([r[i] for r in rows], t) for i, t in enumerate(TYPES)]
    return pa.table(columns, ["c0", "c1", "c2"])


def _values(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(r.values())[:-1] for r in table.to_pylist()]


def _all(specification: MatchSpecification, *rows: tuple[Any, int, int | None]) -> list[tuple[Any, ...]]:
    operator = MatchOperator(specification, TYPES)
    return _values(operator.step(operator.empty(), _rows(*rows), Clock(Clock.END)).out)


def _series(*values: int | None) -> list[tuple[Any, int, int | None]]:
    return [("k", i, v) for i, v in enumerate(values)]


def _kept(state: MatchState) -> list[Any]:
    return state.table.column(1).to_pylist() if state.table.num_columns else []


def test_keys_are_apart_and_null_is_a_key() -> None:
    assert _all(RISE, ("a", 1, 1), (None, 2, 1), ("b", 3, 5), (None, 4, 2), ("a", 5, 3)) == [
        ("a", 1, 3),
        (None, 1, 2),
    ]


def test_rows_are_taken_when_the_watermark_has_passed_them() -> None:
    operator = MatchOperator(RISE, TYPES)
    step = operator.step(operator.empty(), _rows(("k", 5, 2), ("k", 3, 1)), Clock(5))
    assert (_values(step.out), operator.next_wakeup(step.state), step.open_groups) == ([], Wakeup(6), 1)
    again = operator.step(step.state, None, Clock(5, 5))
    assert again.state is step.state
    step = operator.step(step.state, None, Clock(6, 5))
    assert (_values(step.out), _kept(step.state), step.open_groups) == ([("k", 1, 2)], [], 0)


def test_late_rows_are_dropped_and_counted() -> None:
    operator = MatchOperator(RISE, TYPES)
    step = operator.step(operator.empty(), _rows(("k", 9, 1)), Clock(8))
    step = operator.step(step.state, _rows(("k", 7, 1), ("k", 8, 0)), Clock(20, 8))
    assert (step.dropped_late, _values(step.out)) == (1, [("k", 0, 1)])


def test_only_rows_that_may_begin_a_match_stay() -> None:
    operator = MatchOperator(replace(RISE, skip=Skip(NEXT)), TYPES)
    step = operator.step(operator.empty(), _rows(*_series(3, 2, 1, 0)), Clock(10))
    assert (_kept(step.state), operator.next_wakeup(step.state)) == ([3], Wakeup())


def test_ties_are_ordered_by_columns_and_then_as_rows_came() -> None:
    rows: list[tuple[Any, int, int | None]] = [("k", 1, 1), ("k", 1, 3), ("k", 1, None), ("k", 1, 2)]
    every = replace(RISE, pattern=Variable(A), measures=(Cell(VALUE, A),), conditions=(None, None))
    assert [v for _, v in _all(every, *rows)] == [1, 3, None, 2]
    assert [v for _, v in _all(replace(every, order=(Order(2),)), *rows)] == [None, 1, 2, 3]
    assert [v for _, v in _all(replace(every, order=(Order(2, descending=True),)), *rows)] == [3, 2, 1, None]
    last = replace(every, order=(Order(2, nulls_first=False),))
    assert [v for _, v in _all(last, *rows)] == [1, 2, 3, None]


def test_processing_time_is_the_order_of_arrival() -> None:
    operator = MatchOperator(replace(RISE, time=None, event_time=False), TYPES)
    step = operator.step(operator.empty(), _rows(("k", 9, 1), ("k", 1, 0)), Clock())
    assert (_values(step.out), _kept(step.state)) == ([], [1])
    step = operator.step(step.state, _rows(("k", 0, 4)), Clock())
    assert (_values(step.out), _kept(step.state)) == ([("k", 0, 4)], [])


@pytest.mark.parametrize(("apart", "found"), [(4, [("k", 1, 2)]), (5, [])])
def test_within(apart: int, found: list[Any]) -> None:
    assert _all(replace(RISE, within=5), ("k", 10, 1), ("k", 10 + apart, 2)) == found


def test_within_forgets_by_the_watermark() -> None:
    operator = MatchOperator(replace(RISE, within=5), TYPES)
    step = operator.step(operator.empty(), _rows(("k", 10, 1)), Clock(11))
    assert (_kept(step.state), operator.next_wakeup(step.state)) == ([10], Wakeup(15))
    assert _kept(operator.step(step.state, None, Clock(14, 11)).state) == [10]
    assert _kept(operator.step(step.state, None, Clock(15, 11)).state) == []


def test_within_processing_time() -> None:
    operator = MatchOperator(replace(RISE, event_time=False, within=5), TYPES)
    step = operator.step(operator.empty(), _rows(("k", 0, 1)), Clock(now=100))
    assert operator.next_wakeup(step.state) == Wakeup(processing=105)
    assert _values(operator.step(step.state, _rows(("k", 0, 2)), Clock(now=104)).out) == [("k", 1, 2)]
    assert _kept(operator.step(step.state, None, Clock(now=105)).state) == []


def test_an_earlier_start_holds_a_match_back_until_its_time_is_over() -> None:
    later = replace(
        RISE,
        pattern=Concatenation((Variable(A), Repeat(Variable(BOTH), 0, None, greedy=False), Variable(B))),
        variables=("A", "B", "C"),
        conditions=(None, Compare("=", Cell(VALUE, B), Cell(VALUE, A)), None),
        within=10,
    )
    operator = MatchOperator(later, TYPES)
    step = operator.step(operator.empty(), _rows(("k", 1, 7), ("k", 2, 5), ("k", 3, 5)), Clock(4))
    assert _values(step.out) == []
    step = operator.step(step.state, None, Clock(11, 4))
    assert (_values(step.out), _kept(step.state)) == ([("k", 5, 5)], [])


def test_greedy_standard_matches_wait_for_the_row_that_ends_them() -> None:
    operator = MatchOperator(RUN, TYPES)
    step = operator.step(operator.empty(), _rows(*_series(1, 2, 3)), Clock(3))
    assert (_values(step.out), _kept(step.state)) == ([], [0, 1, 2])
    step = operator.step(step.state, _rows(("k", 3, 0)), Clock(4, 3))
    assert (_values(step.out), _kept(step.state)) == ([("k", 1, 3)], [3])


@pytest.mark.parametrize(
    ("skip", "found"),
    [(Skip(), [(1, 3), (0, 2)]), (Skip(NEXT), [(1, 3), (2, 3), (3, 3), (0, 2), (2, 2)])],
)
def test_skips(skip: Skip, found: list[Any]) -> None:
    assert [(a, b) for _, a, b in _all(replace(RUN, skip=skip), *_series(1, 2, 3, 0, 2))] == found


def test_skip_to_where_the_match_began_is_refused() -> None:
    with pytest.raises(SqlExtError) as caught:
        _all(replace(RUN, skip=Skip(LAST, A)), *_series(1, 2))
    assert (caught.value.code, "begins there" in caught.value.message) == ("RUN-042", True)


def test_skip_to_the_first_row_of_a_variable() -> None:
    pattern = Concatenation((Variable(A), Repeat(Variable(B), 2, 2)))
    specification = replace(RUN, pattern=pattern, skip=Skip(FIRST, B))
    assert _all(specification, *_series(1, 2, 3, 4)) == [("k", 1, 3), ("k", 2, 4)]


def test_skip_to_a_variable_without_rows_is_refused() -> None:
    with pytest.raises(SqlExtError) as caught:
        _all(replace(RUN, skip=Skip(FIRST, B)), *_series(1, 0))
    assert (caught.value.code, "has no row of B" in caught.value.message) == ("RUN-042", True)


def test_what_a_match_gives() -> None:
    specification = replace(
        RUN,
        measures=(
            MatchNumber(),
            Classifier(BOTH),
            Cell(VALUE, B, first=True),
            Cell(VALUE, B, offset=1),
            Cell(VALUE, A, shift=-1),
            Cell(VALUE, BOTH, shift=1),
        ),
        totals=(
            Total(B, "sum", (VALUE,)),
            Total(BOTH, "count"),
            Total(B, "collect_list", (VALUE,)),
        ),
    )
    assert _all(specification, *_series(1, 2, 3, 0)) == [
        ("k", 1, "B", 2, 2, None, 0, 5, 3, [2, 3]),
        ("k", 2, "A", None, None, 3, None, None, 1, []),
    ]


def test_numbers_go_on_in_later_batches_and_rows_before_are_looked_back_at() -> None:
    specification = replace(RISE, measures=(MatchNumber(), Cell(VALUE, A, shift=-1)))
    operator = MatchOperator(specification, TYPES)
    step = operator.step(operator.empty(), _rows(*_series(1, 2)), Clock(5))
    assert _values(step.out) == [("k", 1, None)]
    step = operator.step(step.state, _rows(("k", 6, 3), ("k", 7, 4)), Clock(8, 5))
    assert _values(step.out) == [("k", 2, 2)]


def test_next_waits_for_the_row_behind() -> None:
    specification = replace(RISE, conditions=(None, Compare(">", Cell(VALUE, B, shift=1), Cell(VALUE, A))))
    operator = MatchOperator(specification, TYPES)
    step = operator.step(operator.empty(), _rows(*_series(1, 0)), Clock(5))
    assert _values(step.out) == []
    step = operator.step(step.state, _rows(("k", 6, 3)), Clock(8, 5))
    assert _values(step.out) == [("k", 1, 0)]


def test_all_rows_of_a_match() -> None:
    running = (Cell(VALUE, BOTH, final=False), Cell(VALUE, BOTH), Classifier(BOTH, final=False))
    specification = replace(RUN, all_rows=True, measures=running, totals=(Total(BOTH, "sum", (VALUE,), final=False),))
    assert _all(specification, *_series(1, 2, 0)) == [("k", 1, 2, "A", 1), ("k", 2, 2, "B", 3), ("k", 0, 0, "A", 0)]


@pytest.mark.parametrize(("empty", "count"), [(True, 2), (False, 1)])
def test_matches_of_no_row(empty: bool, count: int) -> None:
    high = replace(RUN, pattern=Repeat(Variable(B), 0, None), conditions=(None, Compare(">", Cell(0, B), Cell(0, B))))
    found = _all(replace(high, conditions=(None, Compare("=", Cell(0, B), Cell(0, B))), empty=empty), *_series(None, 1))
    assert len(found) == count
    assert found[-1] == ("k", None, 1)


def test_choice_prefers_what_stands_first() -> None:
    both = Choice((Variable(A), Variable(B)))
    specification = replace(RUN, pattern=both, conditions=(None, None), measures=(Classifier(BOTH),))
    assert _all(specification, *_series(1)) == [("k", "A")]


def test_rows_of_subsets() -> None:
    specification = replace(RUN, subsets=((B,),), measures=(Cell(VALUE, 3, first=True), Cell(VALUE, 3)))
    assert _all(specification, *_series(1, 2, 3)) == [("k", 2, 3)]


def test_ways_that_double_with_each_row_are_given_up() -> None:
    looks_back = Compare(">=", Cell(VALUE, B), Cell(VALUE, B))
    doubling = Concatenation((Repeat(Repeat(Choice((Variable(A), Variable(B))), 1, None), 1, None), Variable(BOTH)))
    specification = replace(
        RUN,
        variables=("A", "B", "C"),
        pattern=doubling,
        conditions=(None, looks_back, Compare("<", Cell(0, 2), Cell(0, 2))),
    )
    with pytest.raises(SqlExtError) as caught:
        _all(specification, *_series(*range(40)))
    assert caught.value.code == "RUN-043"


def test_rows_of_other_columns_are_refused() -> None:
    operator = MatchOperator(RISE, TYPES)
    step = operator.step(operator.empty(), _rows(("k", 1, 1)), Clock(0))
    other: Sequence[pa.Array] = [pa.array(["k"]), pa.array([2]), pa.array(["x"])]
    with pytest.raises(SqlExtError) as caught:
        operator.step(step.state, pa.table(other, ["c0", "c1", "c2"]), Clock(0))
    assert caught.value.code == "RUN-033"
