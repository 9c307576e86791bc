"""Pairs of matching rows: in pieces of any size, with comparisons that are looked up or not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.joins import pairs as join_pairs
from sqlext_udfs.joins.pairs import Matcher
from sqlext_udfs.joins.specification import Comparison
from sqlext_udfs.kernel.groups import Groups

_OPERATORS = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
#: A key, and two values.
_ROWS = st.lists(
    st.tuples(st.integers(-1, 2), st.one_of(st.none(), st.integers(-2, 2)), st.one_of(st.none(), st.integers(-2, 2))),
    max_size=8,
)
_COMPARISONS = st.lists(
    st.builds(
        Comparison, st.integers(0, 1), st.sampled_from(sorted(_OPERATORS)), st.integers(0, 1), null_aware=st.booleans()
    ),
    max_size=3,
)


@pytest.mark.parametrize("of", [pa.int64(), pa.timestamp("us", "UTC"), pa.float64(), pa.decimal128(21, 2), pa.string()])
@settings(max_examples=50, deadline=None)
@given(_ROWS, _ROWS, _COMPARISONS, st.integers(1, 5))
def test_pairs(
    of: pa.DataType,
    left: list[tuple[int, int | None, int | None]],
    right: list[tuple[int, int | None, int | None]],
    comparisons: list[Comparison],
    piece: int,
) -> None:
    expected = [
        (i, j)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if a[0] == b[0] >= 0 and all(_holds(c, a[1 + c.left], b[1 + c.right]) for c in comparisons)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join_pairs, "_PIECE", piece)
        matcher = Matcher(comparisons, _columns(left, of), _columns(right, of), _keys(left), _keys(right))
        found = [
            (int(i), int(j))
            for pairs in matcher.pairs(np.arange(len(left)), np.arange(len(right)))
            for i, j in zip(*pairs, strict=True)
        ]
    assert sorted(found) == expected


def _holds(comparison: Comparison, a: int | None, b: int | None) -> bool:
    if a is None or b is None:
        return comparison.null_aware
    return bool(_OPERATORS[comparison.operator](a, b))


def _columns(rows: list[tuple[int, int | None, int | None]], of: pa.DataType) -> list[pa.Array]:
    """Return the values as a type; small positive ones as text, which order as numbers do."""
    columns = []
    for place in (1, 2):
        values = [None if r[place] is None else r[place] + 2 for r in rows]
        columns.append(pa.array(values, pa.int64()).cast(of))
    return columns


def _keys(rows: list[tuple[int, int | None, int | None]]) -> Groups:
    return Groups(np.array([r[0] for r in rows], np.int64), 3)
