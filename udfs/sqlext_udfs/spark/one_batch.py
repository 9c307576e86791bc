"""Run a bucket operator on rows that are all there: one step of each bucket, at the end of time.

So batch mode has what Spark's batch SQL cannot express (MATCH_RECOGNIZE), with the semantics of streams.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlext_udfs.kernel.operator import BucketOperator, Clock
from sqlext_udfs.kernel.table_codec import decode_rows
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# The most rows that go back to Spark at a time.
_ROWS = 1 << 16


def applied_at_once(packed: DataFrame, operator: BucketOperator[Any], output: StructType) -> DataFrame:
    """Return the rows that an operator gives.

    Args:
        packed: a static DataFrame of rows packed per bucket (``packing.PACKED``).
        operator: the semantics.
        output: the columns that come out: ``c0``, ``c1``, ...
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    now, schema = int(time.time() * 1000), to_arrow_schema(output, timezone="UTC")
    # A lambda has no type hints, so Spark takes it for a function of a table.
    return packed.groupBy("bucket").applyInArrow(lambda rows: _whole_bucket(operator, now, schema, rows), output)


def _whole_bucket(operator: BucketOperator[Any], now: int, schema: pa.Schema, packed: pa.Table) -> pa.Table:
    rows = operator.gathered([decode_rows(memoryview(cell.as_buffer())) for cell in packed.column("rows")])
    out = operator.step(operator.empty(), rows, Clock(Clock.END, None, now)).out
    spare_what_is_loaded()
    # Spark compares types to the letter, also the name of a list's values and whether they can be NULL.
    named = out.rename_columns(schema.names) if out.num_columns else schema.empty_table()
    return pa.Table.from_batches(named.cast(schema).to_batches(max_chunksize=_ROWS), schema)
