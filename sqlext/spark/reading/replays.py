"""Read the dead letters that REPLAY feeds back into a query, as rows of the table that they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.analysis.inserts.replays import row_columns
from sqlext.connectors.formats.conversions import wall_to_instant
from sqlext.plan.bad_rows import LETTER
from sqlext.quoting import identifier
from sqlext.rewrite.script.side_rows import CODE, REPLAY, ROW
from sqlext.stores.location import Location
from sqlext_catalog.model import Column, Table

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

#: Spark leaves files out that are this much older than the newest one: none is.
_ANY_AGE = "36500d"
_PARSED = "__row"


def replayed(spark: SparkSession, folder: Location) -> DataFrame:
    """Return all that is fed back into a table, as it is kept in a folder: texts."""
    from pyspark.sql import functions as f

    texts = spark.readStream.format("text").option("maxFileAge", _ANY_AGE).load(folder.made())
    fields = ", ".join(f"{name} STRING" for name in (LETTER, CODE, REPLAY, ROW))
    return texts.select(f.from_json("value", fields).alias(_PARSED)).select(f"{_PARSED}.*")


def rows_of(kept: DataFrame, table: Table, like: DataFrame, zone: str) -> DataFrame:
    """Return what is fed back as rows of a table, with the columns of its source.

    Args:
        kept: what ``replayed`` returned.
        like: the rows of its source.
    """
    from pyspark.sql import functions as f

    columns = {c.name: c for c in row_columns(table)}
    parsed = kept.select(f.from_json(ROW, schema_of(table)).alias(_PARSED))
    return parsed.select(*(_value(field, columns.get(field.name), zone) for field in like.schema.fields))


def schema_of(table: Table) -> str:
    """Return the columns of a table's rows as Spark writes a schema."""
    return ", ".join(f"{identifier(c.name)} {c.type.spark() if c.type else 'STRING'}" for c in row_columns(table))


def _value(field: StructField, column: Column | None, zone: str) -> SparkColumn:
    from pyspark.sql import functions as f
    from pyspark.sql.types import TimestampType

    text = f"{_PARSED}.{identifier(field.name)}" if column is not None else "NULL"
    # The rowtime of a table is an instant from its source on.
    if column is not None and column.type is not None and column.type.root == "TIMESTAMP":
        text = wall_to_instant(text, zone) if isinstance(field.dataType, TimestampType) else text
    return f.expr(text).cast(field.dataType).alias(field.name)
