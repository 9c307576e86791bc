"""Random typed columns, and a second opinion on when two rows are equal."""

from __future__ import annotations

import math
from collections.abc import Hashable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

_NANS = [math.nan, -math.nan]


class Kind(NamedTuple):
    """An Arrow type and its values; few, so that rows repeat."""

    type: pa.DataType
    values: st.SearchStrategy[Any]


def _nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


_ATOMS = [
    Kind(pa.int32(), st.integers(-1, 2)),
    Kind(pa.int64(), st.sampled_from([0, 1, 2**62, -(2**63)])),
    Kind(pa.bool_(), st.booleans()),
    Kind(pa.string(), st.sampled_from(["", "a", "A", "ä", "\0", "a\0"])),
    Kind(pa.binary(), st.sampled_from([b"", b"\0", b"\0\0"])),
    Kind(pa.float64(), st.sampled_from([0.0, -0.0, 1.5, math.inf, *_NANS])),
    Kind(pa.float32(), st.sampled_from([0.0, -0.0, 0.5, *_NANS])),
    Kind(pa.decimal128(38, 2), st.sampled_from([Decimal("0.00"), Decimal("1.10"), Decimal("-1.10")])),
    Kind(pa.date32(), st.sampled_from([date(1, 1, 1), date(2024, 2, 29)])),
    Kind(pa.timestamp("us"), st.sampled_from([datetime(1969, 12, 31, 23), datetime(2024, 1, 1)])),
    Kind(pa.timestamp("us", "UTC"), st.sampled_from([datetime(2024, 1, 1, tzinfo=timezone.utc)])),
    Kind(pa.duration("us"), st.sampled_from([timedelta(0), timedelta(days=-1)])),
    Kind(pa.null(), st.none()),
]


def _list(kind: Kind) -> Kind:
    return Kind(pa.list_(kind.type), st.lists(_nullable(kind.values), max_size=2))


def _struct(x: Kind, y: Kind) -> Kind:
    values = st.fixed_dictionaries({"x": _nullable(x.values), "y": _nullable(y.values)})
    return Kind(pa.struct([("x", x.type), ("y", y.type)]), values)


def _nested(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return inner.map(_list) | st.builds(_struct, inner, inner)


_KINDS = st.recursive(st.sampled_from(_ATOMS), _nested, max_leaves=3)


@st.composite
def tables(draw: st.DrawFn, max_size: int = 12) -> pa.Table:
    """Draw a table of one to three columns of any type that Spark gives us."""
    columns = draw(st.lists(_KINDS, min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(*(_nullable(c.values) for c in columns)), max_size=max_size))
    arrays = [pa.array([r[i] for r in rows], c.type) for i, c in enumerate(columns)]
    return pa.table(arrays, [f"c{i}" for i in range(len(columns))])


def keys(table: pa.Table) -> list[Hashable]:
    """Return each row as something that Python compares as Spark's DISTINCT compares rows."""
    return [_key(list(row.values())) for row in table.to_pylist()]


def _key(value: Any) -> Hashable:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, list):
        return tuple(_key(v) for v in value)
    return tuple((k, _key(v)) for k, v in value.items()) if isinstance(value, dict) else value
