"""Top-N and deduplication against a list that is sorted anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext_udfs.ranking.at_time import TimedRankOperator
from sqlext_udfs.ranking.operator import RankOperator
from sqlext_udfs.ranking.specification import Emission, Ranking, RankSpecification, SortKey

Row = tuple[str, int | None, int]
TYPES = [pa.string(), pa.int64(), pa.int64(), pa.int8()]
OUT = (0, 1, 2)
BY_VALUE = (SortKey(1),)


def table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = [[r[i] for r in rows] for i in range(len(TYPES))]
    arrays = [pa.array(c, t) for c, t in zip(columns, TYPES, strict=True)]
    return pa.table([*arrays, pa.array([0] * len(rows), pa.int16())], ["c0", "c1", "c2", "c3", "bucket"])


def changelog(operator: Any, batches: Sequence[Sequence[tuple[Any, ...]]]) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each batch; state goes through bytes between them."""
    state, out = operator.empty(), []
    for batch in batches:
        rows = operator.partial(table(batch)).drop_columns(["bucket"]) if batch else None
        step = operator.step(state, rows, Clock())
        state = operator.decode(operator.encode(step.state)) if step.state.num_columns else step.state
        out.append([tuple(r.values()) for r in step.out.to_pylist()])
    return out


def final(batches: Sequence[Sequence[tuple[Any, ...]]]) -> Counter[tuple[Any, ...]]:
    """Return the rows that are left of a changelog."""
    left: Counter[tuple[Any, ...]] = Counter()
    for *row, kind in (r for batch in batches for r in batch):
        left[tuple(row)] += 1 if kind in (INSERT, UPDATE_AFTER) else -1
        assert left[tuple(row)] >= 0
    return +left


def naive(rows: Sequence[Row], spec: RankSpecification) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for key in {r[0] for r in rows}:
        own = [r for r in rows if r[0] == key]
        own.sort(key=lambda r: ((r[1] is not None), -(r[1] or 0) if spec.order[0].descending else (r[1] or 0)))
        if spec.order[0].descending:
            own.sort(key=lambda r: r[1] is None)
        number, dense = 0, 0
        for i, row in enumerate(own):
            new = i == 0 or own[i - 1][1] != row[1]
            dense += new
            number = i + 1 if new or spec.ranking is Ranking.ROW_NUMBER else number
            shown = dense if spec.ranking is Ranking.DENSE_RANK else number
            if spec.first <= shown <= spec.last:
                found[(*row, shown if spec.numbered else None)] += 1
    return found


rows_ = st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 4), st.integers(0, 3))
batches_ = st.lists(st.lists(rows_, max_size=6), max_size=5)
specs_ = st.builds(
    lambda ranking, first, more, numbered, descending: RankSpecification(
        1, OUT, (SortKey(1, descending, not descending),), ranking, first, first + more, numbered
    ),
    st.sampled_from(Ranking),
    st.integers(1, 2),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
)


@settings(deadline=None)
@given(batches_, specs_)
def test_inserts_alone(batches: list[list[Row]], spec: RankSpecification) -> None:
    made = changelog(RankOperator(spec, TYPES), [[(*r, INSERT) for r in b] for b in batches])
    assert final(made) == naive([r for b in batches for r in b], spec)


@settings(deadline=None)
@given(batches_, specs_, st.randoms(use_true_random=False))
def test_rows_that_are_taken_back(batches: list[list[Row]], spec: RankSpecification, random: Any) -> None:
    """Rows are all different here: which of equal ones is left is nobody's to say."""
    there: list[Row] = []
    fed: list[list[tuple[Any, ...]]] = []
    unique = 0
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for key, value, _ in batch:
            unique += 1
            there.append((key, value, unique))
            rows.append((*there[-1], INSERT))
        for gone in random.sample(there, len(there) // 3):
            there.remove(gone)
            rows.append((*gone, random.choice([DELETE, UPDATE_BEFORE])))
        fed.append(rows)
    keeping = RankSpecification(1, OUT, spec.order, spec.ranking, spec.first, spec.last, spec.numbered, kind=3)
    assert final(changelog(RankOperator(keeping, TYPES), fed)) == naive(there, spec)


@settings(deadline=None)
@given(st.lists(rows_, max_size=20), specs_, st.integers(1, 8))
def test_rows_that_are_looked_at_piece_by_piece(rows: list[Row], spec: RankSpecification, piece: int) -> None:
    batch = table([(*r, INSERT) for r in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sqlext_udfs.ranking.operator._PIECE", piece)
        in_pieces = RankOperator(spec, TYPES).partial(batch)
    assert in_pieces.equals(RankOperator(spec, TYPES).partial(batch))


def test_a_batch_shows_its_net_effect() -> None:
    spec = RankSpecification(1, (0, 1), BY_VALUE, last=1)
    first, second, third = changelog(
        RankOperator(spec, TYPES),
        [[("a", 5, 0, 0), ("a", 4, 0, 0)], [("a", 9, 0, 0)], [("a", 1, 0, 0), ("a", 0, 0, 0)]],
    )
    assert first == [("a", 4, None, INSERT)]
    assert second == []
    assert third == [("a", 4, None, UPDATE_BEFORE), ("a", 0, None, UPDATE_AFTER)]


def test_what_cannot_come_into_range_is_forgotten() -> None:
    operator = RankOperator(RankSpecification(1, OUT, BY_VALUE, last=2), TYPES)
    rows = operator.partial(table([("a", i, 0, 0) for i in range(100)]))
    assert rows.num_rows == 2
    step = operator.step(operator.empty(), rows.drop_columns(["bucket"]), Clock())
    step = operator.step(step.state, table([("a", -1, 0, 0)]).drop_columns(["bucket"]), Clock())
    assert step.state.num_rows == 2
    assert step.open_groups == 2


@pytest.mark.parametrize(("latest", "value"), [(False, 1), (True, 3)])
def test_the_order_of_arrival(latest: bool, value: int) -> None:
    spec = RankSpecification(1, (0, 2), latest_first=latest)
    made = changelog(RankOperator(spec, TYPES), [[("a", 0, 1, 0)], [("a", 0, 2, 0), ("a", 0, 3, 0)]])
    assert final(made) == {("a", value, None): 1}


@pytest.mark.parametrize(("latest", "value"), [(False, 1), (True, 3)])
def test_the_order_of_arrival_in_a_window(latest: bool, value: int) -> None:
    order = (SortKey(1, True, False),)
    spec = RankSpecification(1, (0, 2), order, emission=Emission.WINDOW, time=1, latest_first=latest)
    operator = TimedRankOperator(spec, TYPES)
    state = operator.empty()
    for batch in ([("a", 10, 1, 0)], [("a", 10, 2, 0), ("a", 10, 3, 0)]):
        step = operator.step(state, operator.partial(table(batch)).drop_columns(["bucket"]), Clock(5, None))
        state = operator.decode(operator.encode(step.state))
    end = operator.step(state, None, Clock(10, 5))
    assert [tuple(r.values()) for r in end.out.to_pylist()] == [("a", value, None, INSERT)]


WINDOW = RankSpecification(
    2, (0, 2), (SortKey(2, True, False),), last=2, numbered=True, emission=Emission.WINDOW, time=1
)


def test_a_window_gives_its_rows_once_at_its_end() -> None:
    operator = TimedRankOperator(WINDOW, TYPES)
    state = operator.empty()
    rows = [("a", 10, 3, 0), ("a", 10, 7, 0), ("a", 10, 5, 0), ("a", 20, 1, 0)]
    step = operator.step(state, operator.partial(table(rows)).drop_columns(["bucket"]), Clock(5, None))
    assert (step.out.num_rows, operator.next_wakeup(step.state).event) == (0, 10)
    step = operator.step(operator.decode(operator.encode(step.state)), None, Clock(10, 5))
    assert [tuple(r.values()) for r in step.out.to_pylist()] == [("a", 7, 1, INSERT), ("a", 5, 2, INSERT)]
    late = operator.step(step.state, table([("a", 10, 9, 0)]).drop_columns(["bucket"]), Clock(12, 10))
    assert (late.out.num_rows, late.dropped_late, late.open_groups) == (0, 1, 1)
    end = operator.step(late.state, None, Clock(Clock.END, 12))
    assert (end.out.num_rows, end.open_groups) == (1, 0)


FIRST = RankSpecification(1, (0, 1), (SortKey(2),), emission=Emission.FIRST, time=2)


@pytest.mark.parametrize("spec", [WINDOW, FIRST])
@settings(deadline=None)
@given(batches_)
def test_all_rows_at_the_end_of_time_give_what_they_give_before(
    spec: RankSpecification, batches: list[list[Row]]
) -> None:
    operator = TimedRankOperator(spec, TYPES)
    there = [(key, value or 0, time, INSERT) for batch in batches for key, value, time in batch]
    rows = operator.partial(table(there)).drop_columns(["bucket"])
    before = operator.step(operator.empty(), rows, Clock(None, None))
    end = operator.step(before.state, None, Clock(Clock.END, None))
    at_once = operator.step(operator.empty(), rows, Clock(Clock.END, None))
    shown = (sorted(map(repr, step.out.to_pylist())) for step in (end, at_once))
    assert next(shown) == next(shown)
    assert at_once.dropped_late == 0


def test_the_first_row_by_time_comes_when_it_is_certain() -> None:
    operator = TimedRankOperator(FIRST, TYPES)
    step = operator.step(
        operator.empty(), table([("a", 1, 30, 0), ("a", 2, 20, 0)]).drop_columns(["bucket"]), Clock(15)
    )
    assert (step.out.num_rows, operator.next_wakeup(step.state).event) == (0, 21)
    step = operator.step(step.state, table([("a", 3, 18, 0)]).drop_columns(["bucket"]), Clock(18, 15))
    assert step.out.num_rows == 0
    step = operator.step(operator.decode(operator.encode(step.state)), None, Clock(19, 18))
    assert [tuple(r.values()) for r in step.out.to_pylist()] == [("a", 3, None, INSERT)]
    step = operator.step(step.state, table([("a", 4, 40, 0), ("b", 5, 10, 0)]).drop_columns(["bucket"]), Clock(50, 19))
    assert (step.out.num_rows, step.dropped_late, step.open_groups) == (0, 1, 1)


def timed(operator: Any, batches: Sequence[tuple[Sequence[tuple[Any, ...]], Clock]]) -> list[list[tuple[Any, ...]]]:
    """Return key, value and kind of the rows of each batch."""
    state, out = operator.empty(), []
    for batch, clock in batches:
        rows = operator.partial(table(batch)).drop_columns(["bucket"]) if batch else None
        step = operator.step(state, rows, clock)
        state = operator.decode(operator.encode(step.state)) if step.state.num_columns else step.state
        out.append([(*list(r.values())[:2], list(r.values())[-1]) for r in step.out.to_pylist()])
    return out


def at(now: int, watermark: int | None = None) -> Clock:
    return Clock(watermark, None, now)


@pytest.mark.parametrize("kind", [None, 3])
def test_keys_with_a_time_to_live(kind: int | None) -> None:
    """A key is forgotten 1,000 ms after it was written: what had come out stays out, its next row begins it anew."""
    operator = RankOperator(RankSpecification(1, OUT, BY_VALUE, kind=kind, ttl=1000), TYPES)
    batches = [
        ([("a", 5, 0, INSERT), ("b", 1, 0, INSERT)], at(0)),
        ([("a", 3, 0, INSERT)], at(900)),
        ([("b", 7, 0, INSERT)], at(1000)),
        ([("a", 9, 0, INSERT)], at(1899)),
    ]
    first, second, third, fourth = timed(operator, batches)
    assert sorted(first) == [("a", 5, INSERT), ("b", 1, INSERT)]
    assert second == [("a", 5, UPDATE_BEFORE), ("a", 3, UPDATE_AFTER)]
    assert third == [("b", 7, INSERT)]
    assert fourth == []


def test_a_row_that_is_not_kept_writes_nothing() -> None:
    operator = RankOperator(RankSpecification(1, OUT, ttl=1000), TYPES)
    batches = [([("a", v, 0, INSERT)], at(now)) for v, now in ((1, 0), (2, 600), (3, 1000))]
    assert timed(operator, batches) == [[("a", 1, INSERT)], [], [("a", 3, INSERT)]]
    state = operator.step(operator.empty(), table([("a", 1, 0, INSERT)]).drop_columns(["bucket"]), at(5)).state
    assert operator.next_wakeup(state).processing == 1005
    assert operator.step(state, None, at(1005)).state.num_rows == 0


def test_the_first_row_by_time_with_a_time_to_live() -> None:
    """A key that waits for the watermark is kept; one that is done is forgotten, and begins anew."""
    spec = RankSpecification(1, OUT, emission=Emission.FIRST, time=2, order=(SortKey(2),), ttl=1000)
    batches = [
        ([("a", 1, 10, INSERT)], at(0, 5)),
        ([], at(2000, 11)),
        ([("a", 2, 20, INSERT)], at(2001, 30)),
    ]
    assert timed(TimedRankOperator(spec, TYPES), batches) == [[], [("a", 1, INSERT)], [("a", 2, INSERT)]]
