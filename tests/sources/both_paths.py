"""The rows of a table's files as Spark reads them for us, and as Arrow does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from sqlext.connectors.filesystem.reader.tables import READER
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.spark.reading.spark_sources import open_batch
from sqlext.stores.location import Location
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, ObjectName, Table, Watermark

Rows = list[tuple[Any, ...]]


def table_of(
    folder: Path, form: str, columns: dict[str, LogicalType], *, rowtime: str | None = None, **options: str
) -> Table:
    """Return a table of files; ``csv_null_literal`` stands for the option ``csv.null-literal``."""
    named = {key.replace("_", ".", 1).replace("_", "-"): value for key, value in options.items()}
    return Table(
        name=ObjectName("default_catalog", "default_database", "t"),
        columns=tuple(Column(n, t) for n, t in columns.items()),
        watermark=Watermark(rowtime, rowtime) if rowtime else None,
        options=tuple({"connector": "filesystem", "path": str(folder), "format": form, **named}.items()),
    )


def by_spark(spark: SparkSession, table: Table) -> Rows | None:
    """Return the rows by Spark's reader, sorted; None if it fails."""
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    frame = open_batch(spark, connector_of(table).read_spec(table, zone))
    try:
        read = frame.toArrow()
    except Exception:  # noqa: BLE001 - any failure is one
        return None
    return _rows(read.cast(to_arrow_schema(frame.schema, timezone="UTC")))


def by_arrow(table: Table, log: Path, tasks: int = 3) -> Rows | None:
    """Return the rows by the Arrow path, sorted; None if it fails as the JVM path does."""
    names = [c.name for c in table.columns]
    reader = READER.reader(table, names, Location.of(log), tasks)
    end = reader.latest(reader.initial(), None)
    schema = pa.schema([(c.name, READER.column(table, c)) for c in table.columns])
    try:
        batches = [b for piece in reader.slices(reader.initial(), end) for b in reader.read(piece)]
    except SqlExtError as error:
        assert error.code == "RUN-066", error  # noqa: PT017 - the code is part of the answer
        return None
    return _rows(pa.Table.from_batches(batches, schema))


def _rows(table: pa.Table) -> Rows:
    """Return rows as Python values: bits of floating-point numbers as text, instants as microseconds, dates as days."""
    plain = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_timestamp(field.type):
            column = column.cast(pa.timestamp("us", field.type.tz)).cast(pa.int64())
        if pa.types.is_date32(field.type):
            column = column.cast(pa.int32())  # Python has no years but 1 to 9999
        values = column.to_pylist()
        plain.append([repr(v) for v in values] if pa.types.is_floating(field.type) else values)
    return sorted(zip(*plain, strict=True), key=repr)
