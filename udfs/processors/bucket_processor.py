"""The one processor of ``transformWithState``: any bucket operator, one state value per bucket.

This module is loaded in Python workers: it imports no more than they have loaded already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues
from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

from sqlext.errors import SqlExtError
from sqlext.udfs.core.operators import BucketOperator, Clock
from sqlext.udfs.core.table_codec import decode_rows
from sqlext.udfs.processors.packing import tables

#: The name of the state variable, for Spark's state data source.
STATE = "bucket"
_STATE_TYPE = StructType([StructField("buckets", IntegerType()), StructField("state", BinaryType())])


class BucketProcessor(StatefulProcessor):
    """Reads a bucket's state once, hands all its rows to the operator, and writes the state once if it changed.

    Args:
        operator: the semantics.
        buckets: how many buckets there are. It is kept with the state: with another number a key's rows would go
            to a bucket that does not know them, and come out wrong without a sound.
    """

    def __init__(self, operator: BucketOperator[Any], buckets: int) -> None:
        self._operator = operator
        self._buckets = buckets

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state (Spark calls this on the driver too)."""
        self._value = handle.getValueState(STATE, _STATE_TYPE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """Process all rows of a bucket in a micro-batch."""
        arrived = pa.concat_tables([decode_rows(row["rows"]) for row in rows])
        before = self._read()
        after, out = self._operator.process(before, arrived, Clock())
        if after is not before:
            self._value.update((self._buckets, self._operator.encode(after)))
        for table in tables(out):
            yield Row(rows=table)

    def _read(self) -> Any:
        value = self._value.get()
        if value is None:
            return self._operator.empty()
        buckets, data = value
        if buckets != self._buckets:
            raise SqlExtError(
                "RUN-034",
                f"the query's state lies in {buckets} buckets, not in {self._buckets}",
                hint=f"run it with {buckets} buckets, or DROP QUERY starts it anew",
            )
        return self._operator.decode(bytes(data))
