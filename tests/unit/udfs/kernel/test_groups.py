"""Groups of equal rows, with numbers that no row has and without."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext_udfs.kernel.groups import Ints, numbered


def _partition(ids: Ints) -> list[int]:
    """Return the place of the first row of each row's group."""
    first: dict[int, int] = {}
    return [first.setdefault(i, place) for place, i in enumerate(ids.tolist())]


@given(
    st.lists(st.lists(st.integers(-2, 9), min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from([1, 40, 400]),
    st.booleans(),
)
def test_equal_rows_are_a_group(columns: list[list[int]], times: int, gaps: bool) -> None:
    rows = 4 * times
    values = [np.resize(np.array(column, np.int64), rows) for column in columns]
    groups = numbered([pa.array(v) for v in values], gaps=gaps)
    assert _partition(groups.ids) == _partition(np.unique(np.stack(values), axis=1, return_inverse=True)[1].ravel())
    assert groups.ids.min() >= 0
    assert groups.ids.max() < groups.count
    if not gaps:
        assert groups.used().all()


@pytest.mark.parametrize(("least", "copied"), [(0, False), (1, False), (100, False), (101, True), (-1, True)])
def test_numbers_near_0_are_their_own_groups(least: int, copied: bool) -> None:
    """Few numbers without rows cost less than a copy of all rows."""
    values = np.arange(1_000) % 25 + least
    groups = numbered([pa.array(values)], gaps=True)
    assert groups.count == (25 if copied else 25 + least)
    assert np.array_equal(groups.ids, values - least if copied else values)
    assert numbered([pa.array(values)]).count == 25
