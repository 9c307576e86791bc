"""A bucket operator on rows that are all there: one step of each bucket, at the end of time.

So batch mode has what Spark's batch SQL cannot say (MATCH_RECOGNIZE) with the semantics that streams have.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlext.udfs.core.operators import BucketOperator, Clock
from sqlext.udfs.core.table_codec import decode_rows
from sqlext.udfs.processors.packing import tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def applied_at_once(packed: DataFrame, operator: BucketOperator[Any]) -> DataFrame:
    """Return the packed rows that an operator gives.

    Args:
        packed: a static DataFrame of rows packed per bucket (``packing.PACKED``).
        operator: the semantics.
    """
    now = int(time.time() * 1000)
    # A lambda: what Spark cannot read the type hints of, it takes for a function of a table.
    return packed.groupBy("bucket").applyInArrow(lambda rows: _whole_bucket(operator, now, rows), "rows BINARY")


def _whole_bucket(operator: BucketOperator[Any], now: int, packed: pa.Table) -> pa.Table:
    rows = pa.concat_tables([decode_rows(memoryview(cell.as_buffer())) for cell in packed.column("rows")])
    step = operator.step(operator.empty(), rows, Clock(Clock.END, None, now))
    return pa.table({"rows": pa.array(list(tables(step.out)), pa.binary())})
