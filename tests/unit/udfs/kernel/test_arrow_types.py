"""State does not depend on the settings under which Spark hands rows over."""

from __future__ import annotations

import pyarrow as pa

from sqlext_udfs.kernel.arrow_types import plain


def test_zone_offsets_and_nullability_are_taken_off_also_inside() -> None:
    inner = pa.struct([pa.field("t", pa.timestamp("us", "Asia/Tokyo"), nullable=False), ("s", pa.large_string())])
    schema = pa.schema([pa.field("a", pa.list_(inner), nullable=False), ("b", pa.large_binary())], {"key": "value"})
    table = pa.Table.from_pylist([{"a": [{"t": 0, "s": "x"}], "b": b"y"}], schema)
    expected = pa.schema(
        [("a", pa.list_(pa.struct([("t", pa.timestamp("us", "UTC")), ("s", pa.string())]))), ("b", pa.binary())]
    )
    assert plain(table).schema.equals(expected, check_metadata=True)
    assert plain(table).column("b").to_pylist() == [b"y"]


def test_a_plain_table_is_not_copied() -> None:
    table = pa.table({"a": [1]})
    assert plain(table) is table
