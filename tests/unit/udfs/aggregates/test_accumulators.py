"""Every accumulator against plain Python: any split into partial results, any merges, NULLs, types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from aggregate_models import MODELS, different, same
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import Accumulator, AggregateCall
from sqlext_udfs.aggregates.known import accumulator
from sqlext_udfs.kernel.groups import Groups
from sqlext_udfs.kernel.ranges import Ranges

_STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string())])
_VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-3, 3),
    pa.int64(): st.sampled_from([0, 1, -1, 2**40, -(2**40), 7]),
    pa.float32(): st.sampled_from([0.0, 0.5, -1.25, math.inf, math.nan]),
    pa.float64(): st.sampled_from([0.0, -0.0, 0.5, -1.25, 1e9, math.inf, math.nan]),
    pa.decimal128(5, 2): st.decimals(Decimal("-999.99"), Decimal("999.99"), places=2),
    pa.decimal128(38, 3): st.sampled_from([Decimal("1e31") + Decimal("0.001"), Decimal("-2.500"), Decimal("0.000")]),
    pa.string(): st.sampled_from(["", "a", "B", "ä", "z\0"]),
    pa.binary(): st.sampled_from([b"", b"\0", b"\xff"]),
    pa.date32(): st.sampled_from([date(1, 1, 1), date(2024, 2, 29)]),
    pa.timestamp("us"): st.sampled_from([datetime(1969, 12, 31, 23), datetime(2024, 1, 1)]),
    pa.timestamp("us", "UTC"): st.sampled_from([datetime(2024, 1, 1, i, tzinfo=timezone.utc) for i in (1, 2)]),
    pa.duration("us"): st.sampled_from([timedelta(0), timedelta(days=-1), timedelta(hours=3)]),
    pa.bool_(): st.booleans(),
    _STRUCT: st.fixed_dictionaries({"x": st.none() | st.integers(0, 1), "y": st.none() | st.sampled_from("ab")}),
    pa.null(): st.none(),
}
_NUMBERS = [t for t in _VALUES if pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t)]
_INTEGERS = [t for t in _VALUES if pa.types.is_integer(t)]
_FINITE = [*_INTEGERS, pa.decimal128(5, 2)]
_ANY = list(_VALUES)
_TYPES: dict[str, list[pa.DataType]] = {
    "count": _ANY,
    "sum": [*_NUMBERS, pa.duration("us")],
    "min": _ANY,
    "max": _ANY,
    "bool_and": [pa.bool_()],
    "bool_or": [pa.bool_()],
    "bit_and": _INTEGERS,
    "bit_or": _INTEGERS,
    "bit_xor": _INTEGERS,
    "variance": _FINITE,
    "first": _ANY,
    "last": _ANY,
    "collect_list": _ANY,
    "collect_set": _ANY,
    "percentile": [*_FINITE, pa.float64()],
    "percentile_disc": _ANY,
    "mode": _ANY,
    "approx_count_distinct": _ANY,
}
_GROUPS = 3


@st.composite
def _rows(draw: st.DrawFn, types: Sequence[pa.DataType], max_size: int = 14) -> list[tuple[int, tuple[Any, ...]]]:
    values = st.tuples(*(st.none() | _VALUES[t] for t in types))
    return draw(st.lists(st.tuples(st.integers(0, _GROUPS - 1), values), max_size=max_size))


def _chunks(rows: Sequence[Any], cuts: list[int]) -> list[Sequence[Any]]:
    edges = [0, *sorted(c % (len(rows) + 1) for c in cuts), len(rows)]
    return [rows[a:b] for a, b in pairwise(edges)]


def _result(
    made: Accumulator, types: Sequence[pa.DataType], rows: Sequence[Any], cuts: list[int], *, tree: bool
) -> list[Any]:
    """Return the result of each group, from partial results of chunks that are merged one by one or all at once."""
    position = 0
    parts = []
    for chunk in _chunks(rows, cuts):
        inputs = [pa.array([r[1][i] for r in chunk], t) for i, t in enumerate(types)]
        ids = np.array([r[0] for r in chunk], np.int64)
        part = made.start(inputs, Groups(ids, _GROUPS), position + np.arange(len(chunk)))
        parts.append([c.slice(1) for c in _padded(part)])
        position += len(chunk)
    while len(parts) > 1:
        several = parts[:2] if tree else parts
        merged = [pa.concat_arrays([p[i] for p in several]) for i in range(len(several[0]))]
        groups = Groups(np.tile(np.arange(_GROUPS), len(several)), _GROUPS)
        parts = [made.merge(merged, groups), *parts[len(several) :]]
    assert tuple(c.type for c in parts[0]) == made.partial_types
    out = made.finish(parts[0])
    assert tuple(c.type for c in out) == made.output_types
    return _rows_of(out)


def _rows_of(out: Sequence[pa.Array]) -> list[Any]:
    columns = [c.to_pylist() for c in out]
    return columns[0] if len(columns) == 1 else [list(row) for row in zip(*columns, strict=True)]


def _padded(columns: list[pa.Array]) -> list[pa.Array]:
    """Return columns that begin a row later than their memory, as decoded state may."""
    return [pa.concat_arrays([c.slice(0, 1), c]) for c in columns]


def _of_group(rows: Sequence[Any], group: int) -> list[Any]:
    values = [v for g, v in rows if g == group]
    return [v[0] for v in values] if values and len(values[0]) == 1 else values


@pytest.mark.parametrize(("function", "type_"), [(f, t) for f, ts in _TYPES.items() for t in ts], ids=str)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_one_input(function: str, type_: pa.DataType, data: st.DataObject) -> None:
    rows = data.draw(_rows([type_]))
    places = data.draw(st.booleans())
    parameters = (("percentage", 0.3),) if function.startswith("percentile") else ()
    made = accumulator(AggregateCall(function, (0,), parameters=parameters), (type_,), places=places)
    got = _result(made, [type_], rows, data.draw(_CUTS), tree=data.draw(st.booleans()))
    for group in range(_GROUPS):
        expected = MODELS[function](_of_group(rows, group))
        assert same(got[group], _typed(expected, made.output_types[0])), (got[group], expected)


@pytest.mark.parametrize(("function", "type_"), [(f, t) for f, ts in _TYPES.items() for t in ts], ids=str)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_ranges_of_partial_results_are_merged_like_groups(
    function: str, type_: pa.DataType, data: st.DataObject
) -> None:
    """Ranges overlap, so each of their rows counts for several of them."""
    values = data.draw(st.lists(st.none() | _VALUES[type_], min_size=1, max_size=9))
    parameters = (("percentage", 0.3),) if function.startswith("percentile") else ()
    made = accumulator(AggregateCall(function, (0,), parameters=parameters), (type_,), places=True)
    each = Groups(np.arange(len(values)), len(values))
    parts = made.start([pa.array(values, type_)], each, np.arange(len(values)))
    bound = st.tuples(*[st.integers(0, len(values))] * 2).filter(lambda b: b[0] < b[1])
    bounds = data.draw(st.lists(bound, max_size=6))
    firsts, ends = (np.array([b[i] for b in bounds], np.int64) for i in (0, 1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sqlext_udfs.kernel.ranges._AT_ONCE", data.draw(st.integers(1, 12)))
        merged = made.merge_ranges(parts, Ranges(firsts, ends))
    assert tuple(c.type for c in merged) == made.partial_types
    for (first, end), found in zip(bounds, _rows_of(made.finish(merged)), strict=True):
        expected = MODELS[function](values[first:end])
        assert same(found, _typed(expected, made.output_types[0])), (found, expected)


def test_sums_of_ranges_fit_or_are_refused() -> None:
    """A sum of all rows that does not fit is no reason: each range counts alone."""
    made = accumulator(AggregateCall("sum", (0,)), (pa.int64(),))
    most = 2**63 - 1
    values = pa.array([most, most, -most, 1], pa.int64())
    ranges = Ranges(np.array([0, 1, 2]), np.array([1, 4, 4]))
    assert made.merge_ranges([values], ranges)[0].to_pylist() == [most, 1, 1 - most]
    with pytest.raises(SqlExtError, match="RUN-035"):
        made.merge_ranges([values], Ranges(np.array([0]), np.array([2])))


_CUTS = st.lists(st.integers(0, 20), max_size=4)


def _typed(value: Any, of: pa.DataType) -> Any:
    """Return a value as the type would give it back."""
    if isinstance(value, list) and not pa.types.is_list(of):
        return value
    return pa.array([value], of).to_pylist()[0]


@pytest.mark.parametrize("function", ["count", "sum", "collect_list", "percentile", "variance", "max"])
@pytest.mark.parametrize("type_", [pa.int8(), pa.float64(), pa.string(), _STRUCT, pa.decimal128(5, 2)], ids=str)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_distinct(function: str, type_: pa.DataType, data: st.DataObject) -> None:
    if function in ("count", "collect_list", "max") or type_ in _TYPES[function]:
        rows = data.draw(_rows([type_]))
        aggregate = AggregateCall(function, (0,), distinct=True, parameters=(("percentage", 0.3),))
        made = accumulator(aggregate, (type_,))
        got = _result(made, [type_], rows, data.draw(_CUTS), tree=data.draw(st.booleans()))
        for group in range(_GROUPS):
            expected = MODELS[function](different(_of_group(rows, group)))
            assert same(got[group], _typed(expected, made.output_types[0]))


@pytest.mark.parametrize("function", ["min_by", "max_by"])
@pytest.mark.parametrize("key", [t for t in _ANY if not pa.types.is_null(t)], ids=str)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_by(function: str, key: pa.DataType, data: st.DataObject) -> None:
    types = [pa.int64(), key]
    rows = data.draw(_rows(types))
    made = accumulator(AggregateCall(function, (0, 1)), tuple(types))
    got = _result(made, types, rows, data.draw(_CUTS), tree=data.draw(st.booleans()))
    assert got == [MODELS[function](_of_group(rows, g)) for g in range(_GROUPS)]


@settings(deadline=None)
@given(data=st.data())
def test_covariance(data: st.DataObject) -> None:
    types = [pa.int64(), pa.decimal128(5, 2)]
    rows = data.draw(_rows(types))
    made = accumulator(AggregateCall("covariance", (0, 1)), tuple(types))
    got = _result(made, types, rows, data.draw(_CUTS), tree=data.draw(st.booleans()))
    assert all(_same_moments(got[g], MODELS["covariance"](_of_group(rows, g))) for g in range(_GROUPS))


def _same_moments(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether moments of pairs are equal; a covariance is as exact as the spreads that it is made of."""
    *_, cxy, m2x, m2y = other
    close = math.isclose(one[3], cxy, rel_tol=1e-9, abs_tol=1e-9 * max(1.0, math.sqrt(m2x * m2y)))
    rest = (0, 1, 2, 4, 5)
    return close and same([one[i] for i in rest], [other[i] for i in rest])


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6), _CUTS)
def test_a_sum_of_integers_is_exact_or_fails(values: list[int], cuts: list[int]) -> None:
    rows = [(0, (v,)) for v in values]
    made = accumulator(AggregateCall("sum", (0,)), (pa.int64(),))
    partial_sums = [sum(r[1][0] for r in chunk) for chunk in _chunks(rows, cuts)]
    if all(-(2**63) <= s < 2**63 for s in [*partial_sums, sum(values)]):
        assert _result(made, [pa.int64()], rows, cuts, tree=False)[0] == (sum(values) if values else None)
    else:
        with pytest.raises(SqlExtError) as failed:
            _result(made, [pa.int64()], rows, cuts, tree=False)
        assert failed.value.code == "RUN-035"


_CONTEXT = Context(prec=60)
_WIDE = pa.decimal128(38, 2)


@settings(deadline=None)
@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), max_size=6))
def test_a_sum_of_decimals_is_exact_or_fails(values: list[int]) -> None:
    rows = [(0, (Decimal(v).scaleb(-2, _CONTEXT),)) for v in values]
    made = accumulator(AggregateCall("sum", (0,)), (_WIDE,))
    if abs(sum(values)) < 10**38:
        expected = Decimal(sum(values)).scaleb(-2, _CONTEXT) if values else None
        assert _result(made, [_WIDE], rows, [], tree=False)[0] == expected
    else:
        with pytest.raises(SqlExtError) as failed:
            _result(made, [_WIDE], rows, [], tree=False)
        assert failed.value.code == "RUN-035"


def test_result_types() -> None:
    types = {f: accumulator(AggregateCall(f, (0,)), (pa.decimal128(5, 2),)).output_types for f in ("sum",)}
    assert types == {"sum": (pa.decimal128(15, 2),)}
    assert accumulator(AggregateCall("sum", (0,)), (pa.decimal128(30, 2),)).output_types == (pa.decimal128(38, 2),)
    assert accumulator(AggregateCall("sum", (0,)), (pa.float32(),)).output_types == (pa.float64(),)
    assert accumulator(AggregateCall("sum", (0,)), (pa.int8(),)).output_types == (pa.int64(),)


def test_nulls_can_be_values_to_first_and_last() -> None:
    for function, expected in (("first", None), ("last", 2)):
        made = accumulator(AggregateCall(function, (0,), parameters=(("ignore_nulls", False),)), (pa.int64(),))
        assert _result(made, [pa.int64()], [(0, (None,)), (0, (2,))], [1], tree=True)[0] == expected


@pytest.mark.parametrize(
    ("aggregate", "types"),
    [
        (AggregateCall("summ", (0,)), (pa.int64(),)),
        (AggregateCall("sum", (0,)), (pa.string(),)),
        (AggregateCall("max", (0,)), (pa.list_(pa.int64()),)),
        (AggregateCall("covariance", (0, 1), distinct=True), (pa.int64(), pa.int64())),
    ],
    ids=str,
)
def test_refused(aggregate: AggregateCall, types: tuple[pa.DataType, ...]) -> None:
    with pytest.raises(SqlExtError) as refused:
        accumulator(aggregate, types)
    assert refused.value.code == "FUNC-022"
