"""Which columns DISTINCT takes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import types as t

from sqlext.errors import SqlExtError
from sqlext_udfs.spark.arrow_schemas import spark_type
from sqlext_udfs.spark.comparable_types import require_comparable

_MAP = t.MapType(t.StringType(), t.IntegerType())


def _require(of: t.DataType) -> None:
    require_comparable(t.StructType([t.StructField("ok", t.LongType()), t.StructField("bad", of)]), "DISTINCT")


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (_MAP, "maps cannot be compared"),
        (t.ArrayType(t.StructType([t.StructField("m", _MAP)])), "maps cannot be compared"),
        (t.VariantType(), "type variant"),
        (t.CalendarIntervalType(), "type interval"),
        (t.YearMonthIntervalType(0, 1), "type interval year to month"),
        (t.StringType("UTF8_LCASE"), "text compared by collation UTF8_LCASE"),
    ],
)
def test_refused(of: t.DataType, reason: str) -> None:
    with pytest.raises(SqlExtError, match=f"DISTINCT cannot take column `bad`: {reason}") as refused:
        _require(of)
    assert refused.value.code == "FUNC-011"


@pytest.mark.parametrize("of", [t.ArrayType(t.DoubleType()), t.DecimalType(38, 18), t.NullType(), t.ByteType()])
def test_taken(of: t.DataType) -> None:
    _require(of)


def test_a_timestamp_without_a_zone_stays_one() -> None:
    inside = pa.struct([("start", pa.timestamp("us", "UTC")), ("wall_start", pa.timestamp("us"))])
    assert spark_type(inside).simpleString() == "struct<start:timestamp,wall_start:timestamp_ntz>"
