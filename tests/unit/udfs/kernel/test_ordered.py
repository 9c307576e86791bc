"""The order of rows by several numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext_udfs.kernel.order import ordered

_FAR = 1 << 40


@pytest.mark.parametrize("last_first", [False, True])
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2), st.sampled_from([0, _FAR])), max_size=12))
def test_as_a_sort_of_tuples(rows: list[tuple[int, int, int]], last_first: bool) -> None:
    columns = [np.array([row[i] for row in rows], np.int64) for i in range(3)]
    wanted = sorted(range(len(rows)), key=lambda n: (rows[n], -n if last_first else n))
    assert ordered(columns, last_first=last_first).tolist() == wanted


def test_numbers_that_do_not_fit_into_one() -> None:
    columns = [np.array([_FAR, 0, _FAR, 0]), np.array([0, -_FAR, 0, 5])]
    assert ordered(columns).tolist() == [1, 3, 0, 2]
    assert ordered(columns, last_first=True).tolist() == [1, 3, 2, 0]
