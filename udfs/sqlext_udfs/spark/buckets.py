"""Put a bucket operator on a DataFrame.

rows -> partial work, packed per bucket -> shuffle -> state -> rows

A static DataFrame has no state: each bucket is one step, at the end of time. So batch mode has what Spark's batch SQL
cannot express (MATCH_RECOGNIZE), with the semantics of streams.

The module uses public PySpark API only, so it runs over Spark Connect too.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.settings import MAX_BUCKETS
from sqlext_udfs.kernel.bucket_keys import bucket_keys
from sqlext_udfs.kernel.levelled import LevelRules
from sqlext_udfs.kernel.operator import BucketOperator, Clock
from sqlext_udfs.kernel.packing import PACKED, pack, unpack
from sqlext_udfs.kernel.table_codec import decode_rows
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded
from sqlext_udfs.spark.arrow_schemas import arrow_schema
from sqlext_udfs.spark.bucket_processor import BucketProcessor
from sqlext_udfs.spark.rebucketing import StateBefore
from sqlext_udfs.spark.registry import COUNTS, OBSERVED
from sqlext_udfs.spark.state_forms import with_state
from sqlext_udfs.spark.state_store import require_state_store

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


#: When state is kept in levels; tests have smaller ones.
RULES = LevelRules()
# The most rows that go back to Spark at a time, where each bucket is one step.
_ROWS = 1 << 16


@dataclass(frozen=True)
class OperatorTime:
    """The sources of an operator's time.

    Attributes:
        name: the operator's name, unique in its query.
        event_time: whether the query has a watermark.
        ticks: a stream of one column ``now`` (ms since 1970 UTC or NULL): each row reaches every bucket.
        lag: by how many ms rows can be older than the watermark, where an operator below holds rows back.
    """

    name: str
    event_time: bool
    ticks: DataFrame | None
    lag: int = 0


def apply_in_buckets(
    frame: DataFrame,
    operator: BucketOperator[Any],
    *,
    keys: Sequence[int],
    output: StructType,
    buckets: int,
    time: OperatorTime | None = None,
    before: StateBefore | None = None,
    packed: bool = False,
) -> DataFrame:
    """Return what an operator makes of a DataFrame.

    The operator sees columns by position, as ``c0``, ``c1``, ..., in and out. So names may be any, and may change.
    The session gets ``STATE_STORE_SETTINGS`` where it has no values of its own; they count when the query starts.

    Args:
        frame: the rows.
        operator: the semantics.
        keys: positions of columns; rows that are equal in them meet in one bucket.
        output: the columns of the rows that come out.
        buckets: how many buckets there are; this must not change while the checkpoint has state.
        time: for an operator that asks what time it is.
        before: the state of another checkpoint, with which this one begins; the keys are the first columns then.
        packed: whether the rows come packed (``PACKED``); the keys are the first columns then.

    Raises:
        SqlExtError: FUNC-012 if there cannot be so many buckets.
    """
    if not 1 <= buckets <= MAX_BUCKETS:
        raise SqlExtError("FUNC-012", f"a stateful function has 1 to {MAX_BUCKETS} buckets, not {buckets}")
    rows = frame if packed else packed_rows(frame, operator, keys, buckets)
    # Rows that are all there need no state: one step of each bucket gives everything.
    if not rows.isStreaming:
        return _applied_at_once(rows, operator, _positional(output)).toDF(*output.names)
    spark = rows.sparkSession
    require_state_store(spark)
    if time is not None and time.ticks is not None:
        # A tick reaches a bucket as a row: in both time modes below Spark has no timer of processing time.
        rows = rows.unionAll(_ticks(time.ticks, bucket_keys(buckets)))
    event_time = time is not None and time.event_time
    lag = time.lag if time is not None else 0
    processor = BucketProcessor(
        operator, buckets, timed=time is not None, event_time=event_time, lag=lag, keys=len(keys), rules=RULES
    )
    initial = None
    if before is not None:
        initial = before.in_buckets(spark, operator, keys=len(keys), buckets=buckets, timed=time is not None)
    processed = with_state(rows, processor, "EventTime" if event_time else "None", initial)
    if time is not None:
        processed = _counted(processed, time.name)
    return _unpacked(processed.select("rows"), output)


def packed_rows(frame: DataFrame, operator: BucketOperator[Any], keys: Sequence[int], buckets: int) -> DataFrame:
    """Return rows packed per bucket (``packing.PACKED``), after the operator's partial work."""
    plain = frame.toDF(*_names(len(frame.columns)))
    return plain.select("*", _bucket(keys, buckets)).mapInArrow(partial(pack, operator, bucket_keys(buckets)), PACKED)


def _applied_at_once(packed: DataFrame, operator: BucketOperator[Any], output: StructType) -> DataFrame:
    """Return the rows that an operator gives in one step of each bucket.

    Args:
        packed: a static DataFrame of rows packed per bucket (``packing.PACKED``).
        operator: the semantics.
        output: the columns that come out: ``c0``, ``c1``, ...
    """
    now, schema = int(clock.time() * 1000), arrow_schema(output)
    # A lambda has no type hints, so Spark takes it for a function of a table.
    return packed.groupBy("bucket").applyInArrow(lambda rows: _whole_bucket(operator, now, schema, rows), output)


def _whole_bucket(operator: BucketOperator[Any], now: int, schema: pa.Schema, packed: pa.Table) -> pa.Table:
    rows = operator.gathered([decode_rows(memoryview(cell.as_buffer())) for cell in packed.column("rows")])
    out = operator.step(operator.empty(), rows, Clock(Clock.END, None, now)).out
    spare_what_is_loaded()
    # Spark compares types to the letter, also the name of a list's values and whether they can be NULL.
    named = out.rename_columns(schema.names) if out.num_columns else schema.empty_table()
    return pa.Table.from_batches(named.cast(schema).to_batches(max_chunksize=_ROWS), schema)


def _unpacked(rows: DataFrame, output: StructType) -> DataFrame:
    return rows.mapInArrow(unpack, _positional(output)).toDF(*output.names)


def _ticks(ticks: DataFrame, groups: Sequence[int]) -> DataFrame:
    """Return each tick once for every bucket: so all of them know what time it is, and wake up."""
    from pyspark.sql import functions as f

    every = f.explode(f.array(*(f.lit(g) for g in groups)))
    return ticks.select(every.alias("bucket"), f.lit(None).cast("binary").alias("rows"), f.col("now").cast("bigint"))


def _counted(processed: DataFrame, name: str) -> DataFrame:
    from pyspark.sql import functions as f

    sums = (f.coalesce(f.sum(column), f.lit(0)).alias(column) for column in COUNTS)
    return processed.observe(f"{OBSERVED}{name}", *sums)


def _names(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]


def _positional(schema: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    names = _names(len(schema))
    return StructType([StructField(n, f.dataType) for n, f in zip(names, schema, strict=True)])


def _bucket(keys: Sequence[int], buckets: int) -> Column:
    """Return a row's bucket. Spark's hash sees equal floating-point numbers as equal, also inside structs."""
    from pyspark.sql import functions

    # The Arrow path computes the same hash (`sqlext_udfs.kernel.hashing`), or a key's rows would part.
    hashed = functions.xxhash64(*(f"c{key}" for key in keys)) if keys else functions.lit(0)
    return functions.pmod(hashed, functions.lit(buckets)).cast("smallint").alias("bucket")
