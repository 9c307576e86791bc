"""Conditions over both rows of a pair, and joins that ask them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from join_model import KIND, LEFT_VALUE, RIGHT_VALUE, SIDE, TYPES, Row, folded, model, steps

from sqlext.errors import SqlExtError
from sqlext_udfs.expressions import trees as e
from sqlext_udfs.expressions.pairs import PairConditions
from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import JoinKind, JoinSpecification, WindowBound
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE
from sqlext_udfs.matching.specification import expression_from_json, expression_to_json

LEFT = [pa.array([1, 2, None], pa.int32()), pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal128(10, 2))]
RIGHT = [pa.array([5.0, float("nan"), None]), pa.array(["x", None, "y"])]
NAN_IS_LARGEST = e.Compare(">", e.Cell(0, 1), e.Cell(0, 0))


def values(condition: e.Expression, *, wraps: bool = True) -> list[bool]:
    """Return whether a condition is true of the first rows of both sides, the second ones, and the last ones."""
    places = np.arange(3)
    return PairConditions([condition], wraps=wraps).holds((LEFT, RIGHT), places, places).tolist()


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (NAN_IS_LARGEST, [True, True, False]),
        (e.Not(NAN_IS_LARGEST), [False, False, False]),
        (e.Is(NAN_IS_LARGEST, "UNKNOWN"), [False, False, True]),
        (e.Not(e.Is(NAN_IS_LARGEST, "TRUE")), [False, False, True]),
        (e.Is(NAN_IS_LARGEST, "FALSE"), [False, False, False]),
        (e.Or((e.Compare("=", e.Cell(1, 1), e.Constant("x")), e.Is(e.Cell(0, 0), "NULL"))), [True, False, True]),
        (e.And((e.Compare("<>", e.Cell(1, 1), e.Constant("x")), NAN_IS_LARGEST)), [False, False, False]),
        (e.Compare("<=>", e.Cell(1, 0), e.Constant(None)), [False, True, False]),
        (e.Compare("=", e.Cell(1, 0), e.Constant("1.5", decimal=True)), [True, False, False]),
        (e.Compare("<", e.Cell(1, 0), e.Cell(0, 0)), [False, False, False]),
        (e.Compare("=", e.Negate(e.Cell(1, 0), e.Number("DECIMAL", 10, 2)), e.Constant("2.25", True)), [0, 0, 1]),
    ],
)
def test_values(condition: e.Expression, wanted: list[Any]) -> None:
    assert values(condition) == [bool(w) for w in wanted]
    assert expression_from_json(expression_to_json(condition)) == condition


def test_numbers_that_are_too_large() -> None:
    large = e.Arithmetic("*", e.Cell(0, 0), e.Constant(2**31 - 1), e.Number("INT"))
    assert values(e.Compare("=", large, e.Constant(-2))) == [False, True, False]
    with pytest.raises(SqlExtError) as refused:
        values(e.Compare("<", large, e.Constant(0)), wraps=False)
    assert refused.value.code == "RUN-041"
    digits = e.Arithmetic("*", e.Cell(1, 0), e.Cell(1, 0), e.Number("DECIMAL", 2, 1))
    assert values(e.Is(e.Arithmetic("*", digits, e.Constant(100), e.Number("DECIMAL", 2, 1)), "NULL")) == [True] * 3


def branch(condition: e.Expression, then: e.Expression, otherwise: e.Expression) -> e.Case:
    return e.Case((e.When(condition, then),), otherwise)


NAMES = [pa.array(["ab", "a%", None]), pa.array([1, -2, 3], pa.int64())]
PATTERNS = [pa.array(["a_", "a!%", "a"]), pa.array([0, 2, 2], pa.int64())]
NUMBER, BY = e.Cell(1, 0), e.Cell(1, 1)
QUOTIENT = e.Arithmetic("/", NUMBER, BY, e.Number("BIGINT"))


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (e.Like(e.Cell(0, 0), e.Cell(0, 1)), [True, False, False]),
        (e.Like(e.Cell(0, 0), e.Cell(0, 1), "!"), [True, True, False]),
        (e.Not(e.Like(e.Cell(0, 0), e.Cell(0, 1), "!")), [False, False, False]),
        (e.Compare("=", e.Coalesce((e.Cell(0, 0), e.Cell(0, 1))), e.Constant("a")), [False, False, True]),
        (e.Is(e.Coalesce((e.Cell(0, 0), e.Constant(None))), "NULL"), [False, False, True]),
        # A branch that is not taken is not computed: nothing is divided by zero.
        (e.Compare("=", branch(e.Compare("<>", BY, e.Constant(0)), QUOTIENT, NUMBER), e.Constant(1)), [1, 0, 1]),
        (e.Compare("=", branch(e.Compare(">", BY, NUMBER), e.Constant(0.5), NUMBER), e.Constant(1)), [1, 0, 0]),
        (e.Compare("=", branch(e.Constant(None), NUMBER, e.Constant(None)), NUMBER), [False] * 3),
        (e.Compare("=", e.Extreme(">=", (NUMBER, BY, e.Constant(1)), skips_nulls=True), e.Constant(2)), [0, 1, 0]),
        (e.Compare("=", e.Extreme("<=", (NUMBER, BY, e.Constant(1)), skips_nulls=True), e.Constant(1)), [0, 0, 1]),
        (e.Is(e.Extreme("<=", (e.Constant("b"), e.Cell(0, 0)), skips_nulls=False), "NULL"), [False, False, True]),
        (
            e.Compare("=", e.Extreme("<=", (e.Cell(0, 0), e.Constant("b")), skips_nulls=True), e.Constant("b")),
            [0, 0, 1],
        ),
        (e.Compare("=", e.Arithmetic("%", e.Constant(5), NUMBER, e.Number("BIGINT")), BY), [True, False, True]),
    ],
)
def test_branches_and_what_python_computes(condition: e.Expression, wanted: list[Any]) -> None:
    places = np.arange(3)
    for wraps in (True, False):
        holds = PairConditions([condition], wraps=wraps).holds((NAMES, PATTERNS), places, places)
        assert holds.tolist() == [bool(w) for w in wanted]


def test_branches_of_decimals_of_several_scales() -> None:
    cents = branch(e.Is(e.Cell(1, 0), "NULL"), e.Constant("0.125", decimal=True), e.Cell(1, 0))
    assert values(e.Compare("<", cents, e.Constant(1))) == [False, True, True]


small = st.none() | st.integers(0, 3)
rows_ = st.lists(st.builds(lambda k, s, v: Row(k, s, v), st.integers(0, 1), st.integers(0, 1), small), max_size=8)
#: ``left + right > 3 OR left IS NULL``.
TOTAL = e.Arithmetic("+", e.Cell(LEFT_VALUE, 0), e.Cell(RIGHT_VALUE, 1), e.Number("BIGINT"))
REST = e.Or((e.Compare(">", TOTAL, e.Constant(3)), e.Is(e.Cell(LEFT_VALUE, 0), "NULL")))


def fits(left: int | None, right: int | None) -> bool:
    return left is None or (right is not None and left + right > 3)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(JoinKind), st.lists(rows_, max_size=4), st.randoms(use_true_random=False))
def test_joins_that_ask_them(join: JoinKind, batches: list[list[Row]], random: Any) -> None:
    there: list[Row] = []
    fed: list[tuple[list[Row], Clock]] = []
    for batch in batches:
        there += batch
        gone = random.sample(there, len(there) // 4)
        for row in gone:
            there.remove(row)
        fed.append(([*batch, *(r._replace(kind=DELETE) for r in gone)], Clock()))
    right = (RIGHT_VALUE,) if join.pairs else ()
    made = JoinOperator(JoinSpecification(1, SIDE, (LEFT_VALUE,), right, join, KIND, rest=(REST,)), TYPES)
    assert folded(s.out for s in steps(made, fed)) == model(there, join, extra=fits)


def test_a_window_join_that_asks_them() -> None:
    bound = WindowBound(4)
    specification = JoinSpecification(1, SIDE, (LEFT_VALUE,), (RIGHT_VALUE,), JoinKind.LEFT, bound=bound, rest=(REST,))
    rows = [Row(1, 0, 1, 10), Row(1, 0, 3, 10), Row(1, 1, 2, 10)]
    out = folded(s.out for s in steps(JoinOperator(specification, TYPES), [(rows, Clock(Clock.END))]))
    assert out == {(1, None): 1, (3, 2): 1}
