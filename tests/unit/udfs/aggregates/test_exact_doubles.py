"""Sums of DOUBLE against Python's fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates import exact_doubles
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.grouping.retractable import retractable
from sqlext_udfs.kernel.groups import Groups

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
values_ = st.lists(st.tuples(finite, st.integers(-3, 3), st.integers(0, 2)), max_size=12)


def columns(rows: list[tuple[float, int, int]]) -> list[pa.Array]:
    groups = Groups(np.array([r[2] for r in rows], np.int64), 3)
    values = np.array([r[0] for r in rows], np.float64)
    return exact_doubles.started(values, np.array([r[1] for r in rows], np.int64), groups)


def joined(one: list[pa.Array], other: list[pa.Array]) -> list[pa.Array]:
    both = [pa.concat_arrays([a, b]) for a, b in zip(one, other, strict=True)]
    return exact_doubles.merged(*both, Groups(np.array([0, 1, 2, 0, 1, 2]), 3))


def near(found: float, exact: Fraction) -> bool:
    try:
        wanted = float(exact)
    except OverflowError:
        wanted = math.inf if exact > 0 else -math.inf
    if math.isinf(wanted) or math.isinf(found):
        return abs(found) >= math.nextafter(math.inf, 0) and (found > 0) == (wanted > 0)
    return abs(found - wanted) <= math.ulp(wanted)


@settings(deadline=None)
@given(values_, values_)
def test_sums_are_exact(one: list[tuple[float, int, int]], other: list[tuple[float, int, int]]) -> None:
    made = exact_doubles.rounded(*joined(columns(one), columns(other)))
    for group in range(3):
        exact = sum((Fraction(v) * w for v, w, g in [*one, *other] if g == group), Fraction(0))
        assert near(float(made[group]), exact)


@settings(deadline=None)
@given(values_, values_)
def test_what_came_and_went_leaves_nothing(
    one: list[tuple[float, int, int]], other: list[tuple[float, int, int]]
) -> None:
    """Also in the state: equal sums have equal digits."""
    back = [(v, -w, g) for v, w, g in other]
    assert joined(joined(columns(one), columns(other)), columns(back)) == joined(columns([]), columns(one))


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([(math.nan, 1)], math.nan),
        ([(math.nan, 1), (1.5, 1), (math.nan, -1)], 1.5),
        ([(math.inf, 1), (1.5, 1)], math.inf),
        ([(math.inf, 1), (-math.inf, 1)], math.nan),
        ([(math.inf, 1), (-math.inf, 1), (math.inf, -1)], -math.inf),
        ([(1e300, 1), (1e-300, 1), (1e300, -1)], 1e-300),
        ([(0.1, 3)], 0.1 * 3),
        ([(0.1, 1), (0.1, -1)], None),
    ],
)
def test_the_sum_of_a_group(rows: list[tuple[float, int]], wanted: float | None) -> None:
    way = retractable(AggregateCall("sum", (0,)), [pa.float64()])
    assert way is not None
    groups = Groups(np.zeros(len(rows), np.int64), 1)
    weights = np.array([w for _, w in rows], np.int64)
    made = way.finish(way.start([pa.array([v for v, _ in rows])], weights, groups)).to_pylist()[0]
    assert made == wanted or (wanted is not None and math.isnan(made) and math.isnan(wanted))
