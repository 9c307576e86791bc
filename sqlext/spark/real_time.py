"""Look whether queries in Spark's real-time mode have a task for each of their splits.

Their tasks run as long as the batch. A split that waits for one gets none: not in the next batch either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError
from sqlext.spark.sessions import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def require_slots(spark: SparkSession, queries: Iterable[StreamingQuery]) -> None:
    """Refuse queries of a job that have more splits than Spark runs tasks at a time.

    Over Spark Connect that number is not told, and nothing is refused.

    Raises:
        SqlExtError: RUN-097, from the end of their first batch on.
    """
    if is_connect(spark):
        return
    reports = [query.lastProgress for query in queries]
    offsets = [source.endOffset for report in reports if report is not None for source in report.sources]
    splits = sum(_splits(json.loads(offset)) for offset in offsets if offset)
    slots = spark.sparkContext.defaultParallelism
    if splits > slots:
        message = f"real-time mode needs a core for each of {splits} partitions, and Spark has {slots}"
        hint = "give Spark more cores, or let the query run in micro-batches"
        raise SqlExtError("RUN-097", message, hint=hint)


def _splits(offset: Mapping[str, Any] | None) -> int:
    """Return of how many partitions an offset of a source of topics is: topic -> partition -> place."""
    return sum(len(places) for places in (offset or {}).values() if isinstance(places, Mapping))
