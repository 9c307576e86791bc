"""Open tables that operators work on where Arrow reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sqlext.rewrite.script.model import ArrowView
from sqlext.sources.packed import MARKED, READ, PackedWork
from sqlext.sources.program import Program
from sqlext.sources.tables import reader_of
from sqlext.spark.observed import READ_BY_US
from sqlext.spark.reading.data_source import ArrowInput, open_arrow
from sqlext.stores.location import Location
from sqlext_udfs.spark.registry import PackedFunction, operator

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Observation, SparkSession

_DEFAULT_TASKS = 8


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
    tables = reader_of(step.table)
    reader = tables.reader(step.table, step.needed, sources.below(step.scan), tasks_of(spark))
    return ArrowInput(reader, MARKED, work, tables.limit(step.table))


def work_of(spark: SparkSession, step: ArrowView, arguments: Mapping[str, Any], *, times: bool = False) -> PackedWork:
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
    return counted_rows(open_arrow(spark, given, at_once=True))


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
