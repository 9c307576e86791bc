"""Look up tables and temporary views that only Spark knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from sqlext.quoting import identifier
from sqlext.spark.quiet import quiet
from sqlext.spark.types import logical_type
from sqlext.types import LogicalType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_columns(spark: SparkSession, parts: tuple[str, ...]) -> tuple[tuple[str, LogicalType | None], ...] | None:
    """Return name and type of the columns of a table in Spark's own catalog, None if it has no such table."""
    try:
        with quiet():
            fields = spark.table(".".join(identifier(p) for p in parts)).schema.fields
    except PySparkException:
        return None
    return tuple((f.name, logical_type(f.dataType)) for f in fields)
