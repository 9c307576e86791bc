"""Translate Spark's types to logical types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext import types
from sqlext.types import LogicalType

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_SIMPLE = {
    "boolean": types.BOOLEAN,
    "tinyint": types.TINYINT,
    "smallint": types.SMALLINT,
    "int": types.INT,
    "bigint": types.BIGINT,
    "float": types.FLOAT,
    "double": types.DOUBLE,
    "string": types.STRING,
    "binary": types.BYTES,
    "date": types.DATE,
    "timestamp": types.timestamp_ltz(6),
    "timestamp_ntz": types.timestamp(6),
    "void": types.NULL,
    "variant": types.VARIANT,
}


def logical_type(found: DataType) -> LogicalType | None:
    """Return the logical type of a Spark type, None for those that have none (intervals, user types)."""
    from pyspark.sql import types as spark

    if isinstance(found, spark.DecimalType):
        return types.decimal(found.precision, found.scale)
    if isinstance(found, (spark.CharType, spark.VarcharType)):
        return types.STRING
    if isinstance(found, spark.ArrayType):
        element = logical_type(found.elementType)
        return types.array(element) if element else None
    if isinstance(found, spark.MapType):
        key, value = logical_type(found.keyType), logical_type(found.valueType)
        return types.map_of(key, value) if key and value else None
    if isinstance(found, spark.StructType):
        fields = [(f.name, logical_type(f.dataType)) for f in found.fields]
        known = [types.Field(n, t) for n, t in fields if t is not None]
        return types.row(*known) if len(known) == len(fields) else None
    return _SIMPLE.get(found.simpleString())
