"""Make ticks: rows that tell operators the time, and wake those to which no rows came.

``start``: one tick when a query first runs, so that every bucket of its operators knows the watermark from then on.
``clock``: also one a second while an unbounded query runs. The clock of a bounded query stands still while it runs
(rule M14 of the EMIT clause). Under catch-up each run has a tick of its own: the clock goes on between the runs. A
retried micro-batch has the same ticks, so its processing time is the same.

Where a reader of ours tells the time with its rows (``connectors.moments``) ticks are no source of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.connectors.moments import Ticks
from sqlext.stores.location import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The rate source that is a clock: Spark's reports tell it from a user's by these options.
CLOCK = {"rowsPerSecond": "1", "rampUpTime": "0s", "numPartitions": "1"}


@dataclass(frozen=True)
class TickSource:
    """Where the ticks of a query come from.

    Attributes:
        place: where the first tick is written.
        runs: whether the clock goes on.
        clock: a folder of text files, each line a time in ms since 1970 UTC, that takes the place of the clock
            (``SET 'sqlext.clock' = '<folder>'``): for tests and for replaying.
    """

    place: Location
    runs: bool
    clock: str | None = None

    def told(self) -> Ticks:
        """Return when readers of ours tell the time with their rows."""
        return Ticks(self.runs, self.clock)

    def open(self, spark: SparkSession, kind: str) -> DataFrame | None:
        """Return the ticks of a kind as a stream of one column ``now``; None where none are asked for."""
        if not kind:
            return None
        if self.clock is not None:
            return _lines(spark, self.clock)
        start = _lines(spark, self.place.made())
        if kind != "clock" or not self.runs:
            return start
        seconds = spark.readStream.format("rate").options(**CLOCK).load()
        return start.unionAll(seconds.selectExpr("unix_millis(timestamp) AS now"))


def _lines(spark: SparkSession, folder: str) -> DataFrame:
    return spark.readStream.format("text").load(folder).selectExpr("CAST(value AS BIGINT) AS now")
