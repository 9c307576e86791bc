"""DISTINCT without Spark: which rows come out, in which order, whatever the batches."""

from __future__ import annotations

import math
import struct
from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import keys, tables

from sqlext.errors import SqlExtError
from sqlext_udfs.distinct import DistinctOperator
from sqlext_udfs.kernel.operator import Clock

_OTHER_NAN = struct.unpack("d", struct.pack("Q", 0x7FF8_0000_0000_0001))[0]


def _run(batches: list[pa.Table]) -> list[pa.Table]:
    """Return what comes out of each batch, with the state written and read after each."""
    distinct = DistinctOperator()
    saved: bytes | None = None
    out = []
    for batch in batches:
        state = distinct.empty() if saved is None else distinct.decode(saved)
        step = distinct.step(state, distinct.partial(batch), Clock())
        state, new = step.state, step.out
        saved = distinct.encode(state)
        out.append(new)
    return out


def _split(table: pa.Table, cuts: list[int]) -> list[pa.Table]:
    edges = [0, *sorted(c % (table.num_rows + 1) for c in cuts), table.num_rows]
    return [table.slice(a, b - a) for a, b in pairwise(edges) if b > a]


def _column(values: list[object], of: pa.DataType | None = None) -> pa.Table:
    return pa.table({"a": pa.array(values, of)})


@settings(deadline=None)
@given(tables(), st.lists(st.integers(0, 20), max_size=4))
def test_each_row_comes_out_once_when_it_first_comes(table: pa.Table, cuts: list[int]) -> None:
    out = [k for batch in _run(_split(table, cuts)) for k in keys(batch)]
    assert out == list(dict.fromkeys(keys(table)))


@settings(deadline=None)
@given(tables(), st.lists(st.integers(0, 20), max_size=4), st.randoms(use_true_random=False))
def test_any_order_gives_the_same_rows(table: pa.Table, cuts: list[int], random: Random) -> None:
    order = list(range(table.num_rows))
    random.shuffle(order)
    out = [k for batch in _run(_split(table.take(pa.array(order, pa.int64())), cuts)) for k in keys(batch)]
    assert set(out) == set(keys(table))
    assert len(out) == len(set(out))


@settings(deadline=None)
@given(tables())
def test_partial_work_twice_is_partial_work_once(table: pa.Table) -> None:
    once = DistinctOperator().partial(table)
    assert keys(DistinctOperator().partial(once)) == keys(once) == list(dict.fromkeys(keys(table)))


def test_floats_come_out_in_their_usual_form() -> None:
    (out,) = _run([_column([-0.0, 0.0, _OTHER_NAN, math.nan, -math.nan, None, None])])
    zero, nan, null = out.column("a").to_pylist()
    assert math.copysign(1, zero) == 1
    assert struct.pack("d", nan) == struct.pack("d", math.nan)
    assert null is None


def test_floats_inside_containers_too() -> None:
    of = pa.list_(pa.struct([("x", pa.float32())]))
    (out,) = _run([_column([[{"x": -0.0}, None], None, [{"x": 0.0}, None], []], of)])
    assert str(out.column("a").to_pylist()) == "[[{'x': 0.0}, None], None, []]"


def test_an_absent_struct_is_not_a_struct_of_nulls() -> None:
    (out,) = _run([_column([None, {"x": None}, None], pa.struct([("x", pa.int32())]))])
    assert out.column("a").to_pylist() == [None, {"x": None}]


def test_slices_are_read_where_they_begin() -> None:
    of = pa.list_(pa.struct([("x", pa.float64()), ("y", pa.list_(pa.string()))]))
    table = _column([[{"x": float(i), "y": [str(i)]}] for i in (7, 7, 1, -0.0, 1)], of).slice(2)
    (out,) = _run([table])
    assert [v[0]["x"] for v in out.column("a").to_pylist()] == [1.0, 0.0]


def test_state_that_did_not_change_comes_back_itself() -> None:
    distinct = DistinctOperator()
    state = distinct.step(distinct.empty(), _column([1, 2]), Clock()).state
    after = distinct.step(state, _column([2, 1]), Clock())
    assert after.state is state
    assert after.out.num_rows == 0


def test_state_of_other_columns_is_refused() -> None:
    with pytest.raises(SqlExtError, match=r"has seen rows of \(a int64\), not of \(a string\)") as refused:
        _run([_column([1]), _column(["1"])])
    assert refused.value.code == "RUN-033"


def test_rows_with_a_time_to_live() -> None:
    """A row that did not come again for 1,000 ms is forgotten, and comes out again."""
    operator, out = DistinctOperator(1000), []
    state = operator.empty()
    for now, values in ((0, ["a", "b"]), (900, ["a"]), (1000, ["b"]), (1899, ["a", "b"]), (2899, [])):
        rows = operator.partial(pa.table({"c0": values})) if values else None
        step = operator.step(state, rows, Clock(now=now))
        state = operator.decode(operator.encode(step.state))
        out.append(step.out.column(0).to_pylist())
    assert out == [["a", "b"], [], ["b"], [], []]
    assert state.num_rows == 0
