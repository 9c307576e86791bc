"""Regular joins against a plain model: any changelog, any micro-batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from join_model import (
    KIND,
    LEFT_VALUE,
    RIGHT_VALUE,
    SIDE,
    TYPES,
    Row,
    folded,
    model,
    rows_of,
    steps,
)

from sqlext.errors import SqlExtError
from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import Comparison, JoinKind, JoinSpecification, Unbounded
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT

#: Milliseconds each: what is random here are small micro-batches.
_FEW = settings(max_examples=40, deadline=None)
_SMALL = st.one_of(st.none(), st.integers(0, 3))
_CONDITIONS = st.lists(
    st.builds(
        Comparison, st.just(LEFT_VALUE), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), st.just(RIGHT_VALUE)
    ),
    max_size=2,
).map(tuple)


def operator(
    join: JoinKind,
    conditions: tuple[Comparison, ...] = (),
    *,
    kind: int | None = KIND,
    null_safe: bool = False,
    ttl: int | None = None,
    keys: int = 1,
) -> JoinOperator:
    """Return a regular join of the model's columns."""
    right = (RIGHT_VALUE,) if join.pairs else ()
    bound = Unbounded(ttl, ttl)
    return JoinOperator(
        JoinSpecification(keys, SIDE, (LEFT_VALUE,), right, join, kind, conditions, null_safe, bound), TYPES
    )


@st.composite
def changelogs(draw: st.DrawFn, *, deletes: bool) -> list[list[Row]]:
    """Return micro-batches of rows; what is taken back had come, in the same micro-batch perhaps later."""
    live: list[Row] = []
    batches: list[list[Row]] = []
    for size in draw(st.lists(st.integers(0, 8), max_size=4)):
        batch: list[Row] = []
        for _ in range(size):
            if deletes and live and draw(st.booleans()):
                row = live.pop(draw(st.integers(0, len(live) - 1)))
                batch.append(row._replace(kind=DELETE))
            else:
                row = Row(draw(_SMALL), draw(st.integers(0, 1)), draw(_SMALL))
                live.append(row)
                batch.append(row)
        batches.append(draw(st.permutations(batch)))
    return batches


def flat(batches: Sequence[Sequence[Row]]) -> list[Row]:
    """Return the rows of all micro-batches."""
    return [row for batch in batches for row in batch]


def run(of: JoinOperator, batches: Sequence[Sequence[Row]]) -> list[list[tuple[object, ...]]]:
    """Return what comes out of each micro-batch."""
    return [rows_of(s.out) for s in steps(of, [(b, Clock()) for b in batches])]


@pytest.mark.parametrize("join", JoinKind)
@_FEW
@given(changelogs(deletes=True), _CONDITIONS, st.booleans())
def test_changelog(join: JoinKind, batches: list[list[Row]], conditions: tuple[Comparison, ...], safe: bool) -> None:
    done = steps(operator(join, conditions, null_safe=safe), [(b, Clock()) for b in batches])
    assert folded(s.out for s in done) == model(flat(batches), join, conditions, null_safe=safe)
    for step in done:
        out = rows_of(step.out)
        kinds = [row[-1] for row in out]
        assert kinds == sorted(kinds, reverse=True), "retractions come first"
        assert not {r[:-1] for r in out if r[-1] == DELETE} & {r[:-1] for r in out if r[-1] == INSERT}, "net alone"


@pytest.mark.parametrize("join", JoinKind)
@_FEW
@given(changelogs(deletes=False), _CONDITIONS)
def test_inserts_alone(join: JoinKind, batches: list[list[Row]], conditions: tuple[Comparison, ...]) -> None:
    done = steps(operator(join, conditions, kind=None), [(b, Clock()) for b in batches])
    assert folded(s.out for s in done) == model(flat(batches), join, conditions)
    if join in (JoinKind.INNER, JoinKind.SEMI):
        assert all(row[-1] == INSERT for s in done for row in rows_of(s.out))


@_FEW
@given(changelogs(deletes=True))
def test_not_in(batches: list[list[Row]]) -> None:
    conditions = (Comparison(LEFT_VALUE, "=", RIGHT_VALUE, null_aware=True),)
    done = steps(operator(JoinKind.ANTI, conditions), [(b, Clock()) for b in batches])
    assert folded(s.out for s in done) == model(flat(batches), JoinKind.ANTI, conditions)


@_FEW
@given(changelogs(deletes=True))
def test_without_keys(batches: list[list[Row]]) -> None:
    one_key = [[row._replace(key=1) for row in batch] for batch in batches]
    conditions = (Comparison(LEFT_VALUE, "<", RIGHT_VALUE),)
    spec = JoinSpecification(0, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), JoinKind.FULL, KIND, conditions)
    done = steps(JoinOperator(spec, TYPES), [(b, Clock()) for b in one_key])
    assert folded(s.out for s in done) == model(flat(one_key), JoinKind.FULL, conditions)


def test_not_in_of_everything() -> None:
    spec = JoinSpecification(
        0, SIDE, (LEFT_VALUE,), (), JoinKind.ANTI, None, (Comparison(LEFT_VALUE, "=", RIGHT_VALUE, null_aware=True),)
    )
    batches = [[Row(0, 0, 1), Row(0, 0, None)], [Row(0, 1, 2)], [Row(0, 1, None)], [Row(0, 0, 5)]]
    assert run(JoinOperator(spec, TYPES), batches) == [
        [(1, INSERT), (None, INSERT)],
        [(None, DELETE)],
        [(1, DELETE)],
        [],
    ]


def test_left_join_takes_back_the_padded_row() -> None:
    batches = [[Row(1, 0, 10)], [Row(1, 1, 20)], [Row(1, 1, 21)], [Row(1, 1, 20, 0, DELETE), Row(1, 1, 21, 0, DELETE)]]
    assert run(operator(JoinKind.LEFT), batches) == [
        [(10, None, INSERT)],
        [(10, None, DELETE), (10, 20, INSERT)],
        [(10, 21, INSERT)],
        [(10, 20, DELETE), (10, 21, DELETE), (10, None, INSERT)],
    ]


def test_a_row_that_comes_with_its_match_is_never_padded() -> None:
    assert run(operator(JoinKind.FULL, kind=None), [[Row(1, 0, 10), Row(1, 1, 20)]]) == [[(10, 20, INSERT)]]


def test_a_matched_row_of_nulls_is_no_change() -> None:
    assert run(operator(JoinKind.LEFT, kind=None), [[Row(1, 0, 10)], [Row(1, 1, None)]]) == [[(10, None, INSERT)], []]


def test_null_keys_are_not_held() -> None:
    (step,) = steps(operator(JoinKind.LEFT), [([Row(None, 0, 10), Row(None, 1, 20)], Clock())])
    assert rows_of(step.out) == [(10, None, INSERT)]
    assert step.open_groups == 0


def test_exists_forgets_what_is_out() -> None:
    done = steps(operator(JoinKind.SEMI, kind=None), [([Row(1, 0, 10)], Clock()), ([Row(1, 1, 0)] * 5, Clock())])
    assert [s.open_groups for s in done] == [1, 1], "the left row is out, equal right rows are kept once"


def test_time_to_live() -> None:
    of = operator(JoinKind.INNER, kind=None, ttl=100)
    batches = [([Row(1, 0, 10)], Clock(now=0)), ([Row(1, 1, 20)], Clock(now=99)), ([Row(1, 1, 21)], Clock(now=100))]
    done = steps(of, batches)
    assert [rows_of(s.out) for s in done] == [[], [(10, 20, INSERT)], []]
    assert of.next_wakeup(done[0].state) == Wakeup(None, 100)
    assert done[2].open_groups == 2


def test_a_match_renews_an_outer_row() -> None:
    of = operator(JoinKind.LEFT, kind=None, ttl=100)
    batches = [([Row(1, 0, 10)], Clock(now=0)), ([Row(1, 1, 20)], Clock(now=99)), ([Row(1, 1, 21)], Clock(now=150))]
    assert [rows_of(s.out) for s in steps(of, batches)][2] == [(10, 21, INSERT)]


def test_what_is_not_held_cannot_be_taken_back() -> None:
    of = operator(JoinKind.LEFT)
    assert run(of, [[Row(1, 0, 10, 0, DELETE)], [Row(1, 1, 20)]]) == [[], []]


def test_nothing_changes_without_rows() -> None:
    of = operator(JoinKind.FULL)
    state = of.step(of.empty(), None, Clock()).state
    assert of.step(state, None, Clock(5, 4)).state is state


def test_keys_of_many_types() -> None:
    types = [pa.float64(), pa.string(), pa.int8(), pa.string()]
    spec = JoinSpecification(2, 2, (3,), (0, 1), JoinKind.INNER)
    of = JoinOperator(spec, types)
    rows = pa.table(
        [
            pa.array([0.0, -0.0, float("nan"), float("nan")]),
            pa.array(["a", "a", "b", "b"]),
            pa.array([0, 1, 0, 1], pa.int8()),
            pa.array(["x", None, "y", None]),
        ],
        ["c0", "c1", "c2", "c3"],
    )
    bucketed = rows.append_column("bucket", pa.array([0] * 4))
    out = of.step(of.empty(), of.partial(bucketed).remove_column(4), Clock()).out
    assert Counter(out.column(0).to_pylist()) == {"x": 1, "y": 1}
    assert out.schema.types == [pa.string(), pa.float64(), pa.string(), pa.int8()]


def test_comparisons_order_as_spark() -> None:
    types = [pa.int64(), pa.int8(), pa.float64(), pa.float64()]
    of = JoinOperator(JoinSpecification(1, 1, (2,), (3,), conditions=(Comparison(2, ">", 3),)), types)
    nan = float("nan")
    rows = pa.table(
        [
            [1] * 6,
            pa.array([0, 0, 0, 1, 1, 1], pa.int8()),
            [nan, 1.0, None, *[None] * 3],
            [*[None] * 3, nan, 0.5, None],
        ],
        ["c0", "c1", "c2", "c3"],
    ).cast(pa.schema([(f"c{i}", t) for i, t in enumerate(types)]))
    out = of.step(of.empty(), rows, Clock()).out
    assert [str(v) for v in out.column(0).to_pylist()] == ["nan", "1.0"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: JoinSpecification(1, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), JoinKind.SEMI),
        lambda: operator(JoinKind.INNER, (Comparison(LEFT_VALUE, "!=", RIGHT_VALUE),)),
        lambda: JoinOperator(
            JoinSpecification(1, 1, (2,), conditions=(Comparison(0, "=", 2),)), [pa.int64(), pa.int8(), pa.string()]
        ),
        lambda: JoinOperator(
            JoinSpecification(1, 1, (2,), kind=1), [pa.int64(), pa.int8(), pa.map_(pa.string(), pa.string())]
        ),
    ],
)
def test_refused(make: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        make()  # type: ignore[operator]


def test_state_of_other_columns_is_refused() -> None:
    of = operator(JoinKind.FULL)
    other = JoinOperator(JoinSpecification(1, 1, (2,)), [pa.string(), pa.int8(), pa.string()])
    with pytest.raises(SqlExtError, match="has kept rows of") as error:
        other.decode(of.encode(of.empty()))
    assert error.value.code == "RUN-033"


def test_each_side_has_its_own_time_to_live() -> None:
    spec = JoinSpecification(1, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), bound=Unbounded(right_ttl=100))
    of = JoinOperator(spec, TYPES)
    rows = [Row(1, 0, 10), Row(2, 1, 20)]
    done = steps(of, [(rows, Clock(now=0)), ([Row(1, 1, 21), Row(2, 0, 11)], Clock(now=200))])
    assert rows_of(done[1].out) == [(10, 21, INSERT)]
    assert of.next_wakeup(done[0].state) == Wakeup(None, 100)
