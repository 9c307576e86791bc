"""A bucket operator on a streaming DataFrame.

rows -> partial work, packed per bucket -> shuffle -> state -> rows

Public PySpark API only, so that it runs over Spark Connect too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError
from sqlext.udfs.core.operators import BucketOperator
from sqlext.udfs.processors.bucket_keys import bucket_keys
from sqlext.udfs.processors.bucket_processor import BucketProcessor
from sqlext.udfs.processors.packing import PACKED, pack, unpack
from sqlext.udfs.processors.state_store import require_state_store

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: How many buckets a new query has. Fixed, not taken from the session: its keys stay in their buckets when it
#: restarts with other settings. More than this many shuffle partitions would be idle; fewer share the buckets.
DEFAULT_BUCKETS = 8
_MAX_BUCKETS = 1024


def apply_in_buckets(
    frame: DataFrame, operator: BucketOperator[Any], *, keys: Sequence[int], output: StructType, buckets: int
) -> DataFrame:
    """Return what an operator makes of a streaming DataFrame.

    To the operator columns are ``c0``, ``c1``, ... by position, in and out: so names may be any, and may change.
    The session gets ``STATE_STORE_SETTINGS`` where it has nothing of its own: they count when the query starts.

    Args:
        frame: the rows.
        operator: the semantics.
        keys: positions of columns; rows that are equal in them meet in one bucket.
        output: the columns of the rows that come out.
        buckets: how many; part of what the query is, never to be changed while it has state.

    Raises:
        SqlExtError: FUNC-012 if there cannot be so many buckets.
    """
    if not 1 <= buckets <= _MAX_BUCKETS:
        raise SqlExtError("FUNC-012", f"a stateful function has 1 to {_MAX_BUCKETS} buckets, not {buckets}")
    require_state_store(frame.sparkSession)
    plain = frame.toDF(*_names(len(frame.columns)))
    packer = partial(pack, operator, bucket_keys(buckets))
    packed = plain.select("*", _bucket(keys, buckets)).mapInArrow(packer, PACKED)
    processor = BucketProcessor(operator, buckets)
    processed = packed.groupBy("bucket").transformWithState(processor, "rows BINARY", "Append", "None")
    return processed.mapInArrow(unpack, _positional(output)).toDF(*output.names)


def _names(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]


def _positional(schema: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    names = _names(len(schema))
    return StructType([StructField(n, f.dataType) for n, f in zip(names, schema, strict=True)])


def _bucket(keys: Sequence[int], buckets: int) -> Column:
    """Return a row's bucket. Spark's hash sees equal floating-point numbers as equal, also inside structs."""
    from pyspark.sql import functions

    hashed = functions.xxhash64(*(f"c{key}" for key in keys))
    return functions.pmod(hashed, functions.lit(buckets)).cast("smallint").alias("bucket")
