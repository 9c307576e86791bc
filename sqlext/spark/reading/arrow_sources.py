"""Open tables that operators work on where Arrow reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa

from sqlext.connectors.splits import SplitReader
from sqlext.rewrite.script.model import ArrowView, Onward
from sqlext.sources.packed import MARKED, READ, PackedWork
from sqlext.sources.program import Program
from sqlext.sources.tables import reader_of
from sqlext.spark.observed import READ_BY_US
from sqlext.spark.reading.data_source import ArrowInput, open_arrow, open_at_once
from sqlext.stores.location import Location
from sqlext_udfs.spark.registry import PackedFunction, operator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

_DEFAULT_TASKS = 8


def row_input(spark: SparkSession, step: ArrowView, sources: Location) -> ArrowInput:
    """Return what reads a table, and makes the rows of a view without an operator; raises as ``packed_input``."""
    from pyspark.sql.pandas.types import from_arrow_schema

    from sqlext.sources.rows import RowWork

    types = cast("tuple[pa.DataType, ...]", step.types)
    work = RowWork(cast(Program, step.program), types)
    fields = from_arrow_schema(pa.schema([(f"c{i}", of) for i, of in enumerate(types)]), prefer_timestamp_ntz=True)
    ddl = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in fields)
    return ArrowInput(_reader(spark, step, work.program, sources), f"{ddl}, {READ} BIGINT", work)


def rows_at_once(spark: SparkSession, given: ArrowInput) -> CountedRows:
    """Return all rows of a ``row_input`` as a static DataFrame."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    counted = Observation()
    rows = open_at_once(spark, given).observe(counted, f.sum(READ).alias(READ))
    return CountedRows(rows.where(f"{READ} IS NULL").drop(READ), counted)


def _reader(spark: SparkSession, step: ArrowView, program: Program, sources: Location) -> SplitReader:
    reader = reader_of(step.table).reader(step.table, step.needed, sources.below(step.scan), tasks_of(spark))
    return program.narrowed(reader)


def packed_input(
    spark: SparkSession, step: ArrowView, sources: Location, arguments: Mapping[str, Any], *, times: bool = False
) -> ArrowInput:
    """Return what reads a table, and works on its rows by an operator.

    Args:
        sources: the query's folder for what readers remember.
        arguments: the operator's.
        times: whether event times are summed up.

    Raises:
        OptionError: OPT-009 if nothing lies at the table's path.
    """
    work = work_of(spark, step, arguments, times=times)
    reader = _reader(spark, step, work.program, sources)
    return ArrowInput(reader, MARKED, work, reader_of(step.table).limit(step.table))


def work_of(
    spark: SparkSession, step: ArrowView | Onward, arguments: Mapping[str, Any], *, times: bool = False
) -> PackedWork:
    """Return what an operator does with rows where they are read; see ``packed_input``."""
    function = cast(PackedFunction, operator(step.function))
    made = function.made(arguments, cast("tuple[pa.DataType, ...]", step.types), spark)
    return PackedWork(cast(Program, step.program), made.operator, made.keys, made.buckets, times)


def packed_rows(spark: SparkSession, given: ArrowInput, scan: str) -> DataFrame:
    """Return packed rows; Spark's progress will have how many there were, and of how many rows they are."""
    from pyspark.sql import functions as f

    packed = open_arrow(spark, given)
    return packed.observe(f"{READ_BY_US}{scan}", f.count(f.lit(1)).alias("packed"), f.sum(READ).alias("rows"))


def packed_at_once(spark: SparkSession, given: ArrowInput) -> CountedRows:
    """Return all packed rows as a static DataFrame."""
    return counted_rows(open_at_once(spark, given))


class CountedRows(NamedTuple):
    """Packed rows as a static DataFrame, and what will have how many rows they are (``READ``)."""

    rows: DataFrame
    counted: Observation


def counted_rows(packed: DataFrame) -> CountedRows:
    """Return packed rows without those that are marks alone."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    counted = Observation()
    rows = packed.observe(counted, f.sum(READ).alias(READ))
    return CountedRows(rows.where("rows IS NOT NULL"), counted)


def tasks_of(spark: SparkSession) -> int:
    """Return how many tasks a micro-batch is cut into: as many as its shuffles have."""
    partitions = spark.conf.get("spark.sql.shuffle.partitions", None) or ""
    return int(partitions) if partitions.isdigit() else _DEFAULT_TASKS
