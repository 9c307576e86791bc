"""Matches of random rows are those of a naive model, however the rows are cut into micro-batches."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_model import Condition, Element, Taken, matches

from sqlext_udfs.expressions.trees import Cell, Classifier, Compare, Constant, Expression, Number, Or, Running
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.matching.operator import MatchOperator
from sqlext_udfs.matching.pattern import Concatenation, Repeat, Variable
from sqlext_udfs.matching.specification import (
    NEXT,
    PAST_LAST,
    MatchSpecification,
    Skip,
    specification_from_json,
    specification_to_json,
)

TYPES = [pa.string(), pa.int64(), pa.int64(), pa.bool_()]
KEY, TIME, VALUE, LARGE = range(4)
VALUES, LARGES = 0, 1
A, B, C, ALL = 0, 1, 2, 3
QUANTIFIERS = [(1, 1, True), (0, 1, True), (2, 2, True), (0, None, True), (1, None, True), (1, 3, True), (0, 2, False)]
RELUCTANT = [(0, None, False), (1, None, False), (1, 2, False)]


def _last(values: Sequence[int], taken: Taken, variable: int) -> int | None:
    return next((values[row] for v, row in reversed(taken) if v == variable), None)


#: A condition of variable ``v`` as a tree, and as the model sees it.
def _conditions(v: int) -> list[tuple[Expression | None, Condition]]:
    def more_than_a(values: Sequence[int], taken: Taken) -> bool:
        last = _last(values, taken, A)
        return last is None or values[taken[-1][1]] > last

    def small_sum(values: Sequence[int], taken: Taken) -> bool:
        return sum(values[row] for w, row in taken if w == v) < 5

    return [
        (None, lambda values, taken: True),
        (Cell(LARGES, v), lambda values, taken: values[taken[-1][1]] >= 2),
        (
            Or((Compare(">", Cell(VALUES, v), Cell(VALUES, A)), Compare("<=>", Cell(VALUES, A), Cell(VALUES, 9)))),
            more_than_a,
        ),
        (Compare("<", Running("sum", VALUES, v, Number("BIGINT")), Constant(5)), small_sum),
    ]


CONDITIONS = 4


@st.composite
def patterns(draw: st.DrawFn, *, standard: bool) -> list[Element]:
    made: list[Element] = []
    for variable in range(draw(st.integers(1, 3))):
        least, most, greedy = draw(st.sampled_from(QUANTIFIERS + RELUCTANT))
        possessive = made and made[-1][3] and made[-1][1] != made[-1][2] and made[-1][1:3] != (0, 1)
        if not standard and possessive and least == 0:
            least, most, greedy = 1, 1, True  # Flink refuses what is optional after a greedy quantifier
        made.append((variable, least, most, greedy))
    if not standard and made[-1][3] and made[-1][1] != made[-1][2] and made[-1][1:3] != (0, 1):
        made[-1] = (made[-1][0], 1, 1, True)  # and a greedy one at the end
    return made


def _specification(
    pattern: Sequence[Element], chosen: Sequence[int], skip: str, *, standard: bool
) -> tuple[MatchSpecification, list[Condition]]:
    count = len(pattern)
    both = [_conditions(v)[c] for v, c in enumerate(chosen[:count])]
    trees = [t for t, _ in both]
    specification = MatchSpecification(
        keys=1,
        variables=("A", "B", "C")[:count],
        pattern=Concatenation(tuple(Repeat(Variable(v), least, most, greedy) for v, least, most, greedy in pattern)),
        conditions=tuple(_regrouped(t, count) for t in trees),
        values=(VALUE, LARGE, TIME),
        measures=(Cell(2, count, first=True), Cell(2, count), Classifier(count)),
        subsets=((),),
        time=TIME,
        skip=Skip(skip),
        standard=standard,
    )
    return specification, [c for _, c in both]


def _regrouped(tree: Expression | None, count: int) -> Expression | None:
    """Return a condition whose group 9 is the one that is always empty."""
    if not isinstance(tree, Or):
        return tree
    return Or((tree.items[0], Compare("<=>", Cell(VALUES, A), Cell(VALUES, count + 1))))


def _run(specification: MatchSpecification, values: Sequence[int], cuts: Sequence[int]) -> list[tuple[object, ...]]:
    operator = MatchOperator(specification_from_json(specification_to_json(specification)), TYPES)
    state, out, before = operator.empty(), [], None
    for low, high in zip([0, *cuts], [*cuts, len(values)], strict=True):
        rows = pa.table(
            [
                pa.array(["k"] * (high - low)),
                pa.array(range(low, high), pa.int64()),
                pa.array(values[low:high], pa.int64()),
                pa.array([v >= 2 for v in values[low:high]]),
            ],
            ["c0", "c1", "c2", "c3"],
        )
        step = operator.step(operator.decode(operator.encode(state)), rows, Clock(high, before))
        state, before = step.state, high
        assert step.dropped_late == 0
        out += [tuple(r.values()) for r in step.out.to_pylist()]
    step = operator.step(state, None, Clock(Clock.END, before))
    assert step.state.table.num_rows == 0
    return out + [tuple(r.values()) for r in step.out.to_pylist()]


@pytest.mark.parametrize("standard", [True, False])
@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_as_the_model(data: st.DataObject, standard: bool) -> None:
    pattern = data.draw(patterns(standard=standard))
    chosen = data.draw(st.lists(st.integers(0, CONDITIONS - 1), min_size=3, max_size=3))
    skip = data.draw(st.sampled_from([NEXT, PAST_LAST]))
    values = data.draw(st.lists(st.integers(0, 3), max_size=8))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=3)))
    specification, conditions = _specification(pattern, chosen, skip, standard=standard)
    expected = [
        ("k", m[0][1], m[-1][1], "ABC"[m[-1][0]], 0) if m else ("k", None, None, None, 0)
        for m in matches(values, pattern, conditions, skip, standard=standard, closed=standard)
    ]
    assert _run(specification, values, cuts) == expected
