"""State finds an aggregate by its name, however that is written; two of one plain name keep the names they have."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.aggregates.names import loose_name, plain_name, plain_names


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("sum(v+1)", "sum(v+1)"),
        ("sum( v /* c */ +\n1 -- d\n)", "sum(v+1)"),
        ("count(DISTINCT v)", "count(DISTINCT v)"),
        ("count(CASE  WHEN k = 'a  b' THEN 1 END)", "count(CASE WHEN k='a  b'THEN 1 END)"),
        ("max(k = 'it''s  a')", "max(k='it''s  a')"),
        ('max("a  b")', 'max("a  b")'),
        ("max(`a  b`)", "max(`a  b`)"),
        ("max('-- no comment')", "max('-- no comment')"),
    ],
)
def test_plain_names(name: str, plain: str) -> None:
    assert plain_name(name) == plain
    assert plain_name(plain) == plain


def test_what_may_be_the_same() -> None:
    assert loose_name("sum(__q0.V)") == loose_name("sum(`v`)") == "sum(v)"
    assert plain_names(["a + b", "a+b", "c  d"]) == ["a + b", "a+b", "c  d"]


def test_state_is_found() -> None:
    types = [pa.int64(), pa.int64()]

    def of(*names: str) -> Aggregation:
        return Aggregation([AggregateCall("sum", (0,), name=name) for name in names], types)

    old, new = of("sum(v+1)", "sum(w)"), of("sum(x)", "sum(w )", "sum(v + 1)")
    width = len(old.partial_types) // 2
    kept = [pa.array([10 + n], t) for n, t in enumerate(old.partial_types)]
    moved = new.moved(old.named, kept, 1)
    assert moved[width : 2 * width] == kept[width:]
    assert moved[2 * width :] == kept[:width]
