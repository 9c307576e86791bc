"""Sums that count rows by the way: the same sums, the same failures, and the sizes of the groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.aggregates.exact_sums import counted_sums
from sqlext_udfs.kernel.groups import Groups, Ints

_GROUPS = 4
_TYPES = [np.int8, np.int16, np.int32, np.int64]
# Where a count just fits beside a sum of few values, and where it does not any more.
_NEAR = [s * 2**b + d for s in (1, -1) for b in (53, 54, 55, 56, 57, 58, 59, 60, 61) for d in (-1, 0, 1)]


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_sums_and_sizes(data: st.DataObject) -> None:
    of = data.draw(st.sampled_from(_TYPES))
    bounds = np.iinfo(of)
    near = [n for n in _NEAR if bounds.min <= n <= bounds.max]
    value = st.integers(-3, 3) | st.sampled_from([bounds.min, bounds.max, *near])
    values = data.draw(st.lists(value, max_size=12))
    ids = data.draw(st.lists(st.integers(0, _GROUPS - 1), min_size=len(values), max_size=len(values)))
    sums = [sum(v for v, i in zip(values, ids, strict=True) if i == g) for g in range(_GROUPS)]
    groups = Groups(np.array(ids, np.int64), _GROUPS)
    if all(-(2**63) <= s < 2**63 for s in sums):
        assert counted_sums(np.array(values, of), groups).tolist() == sums
    else:
        with pytest.raises(SqlExtError, match="RUN-035"):
            counted_sums(np.array(values, of), groups)
    assert groups.have_sizes()
    assert groups.sizes().tolist() == [ids.count(g) for g in range(_GROUPS)]


@pytest.mark.parametrize("large", [5, -5, 1 << 20, -(1 << 20), 1 << 40, -(1 << 40)])
def test_many_rows(large: int) -> None:
    """Small values leave room for the count of many rows, large ones do not."""
    values = np.arange(100_000) % 7 * large
    ids = np.arange(100_000) % _GROUPS
    groups = Groups(ids, _GROUPS)
    assert counted_sums(values, groups).tolist() == [int(values[ids == g].sum()) for g in range(_GROUPS)]
    assert groups.sizes().tolist() == [25_000] * _GROUPS


def test_sizes_that_are_known_stay() -> None:
    groups = Groups(np.array([0, 2, 2]), 3)
    sizes = groups.sizes()
    assert counted_sums(np.array([1, 2, 3], np.int32), groups).tolist() == [1, 0, 5]
    assert groups.sizes() is sizes


_CALLS = [
    AggregateCall("count"),
    AggregateCall("count", (0,)),
    AggregateCall("sum", (0,)),
    AggregateCall("max", (0,)),
    AggregateCall("sum", (1,)),
    AggregateCall("sum", (2,)),
]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(_CALLS), max_size=4),
    st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(-9, 9)), max_size=9),
)
def test_aggregates_are_the_same_with_sizes(calls: list[AggregateCall], rows: list[tuple[int, int | None]]) -> None:
    types = [pa.int32(), pa.float64(), pa.decimal128(5, 1)]
    table = pa.table([pa.array([v for _, v in rows], of) for of in types], ["c0", "c1", "c2"])
    ids: Ints = np.array([g for g, _ in rows], np.int64)
    made, places = Aggregation(calls, types), np.arange(len(rows))
    groups = Groups(ids, 3)
    assert made.start_counting(table, groups, places) == made.start(table, Groups(ids, 3), places)
    assert groups.sizes().tolist() == np.bincount(ids, minlength=3).tolist()
