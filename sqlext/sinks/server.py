"""Keep batches for the client of Spark Connect, in views of the server's session.

They are written in a process of the server and read by the client, which share a session and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.sinks.base import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


@dataclass(frozen=True)
class ViewSink(Sink):
    """Keeps each batch, computed, as a view; its number stands behind ``prefix``."""

    prefix: str

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Keep a batch; one that is run again replaces itself."""
        # Computed now: a view of the plan alone would be computed anew when the client reads it.
        df.localCheckpoint().createOrReplaceTempView(f"{self.prefix}{batch_id}")


class ViewBatches(Mapping[int, "list[Row]"]):
    """Those batches as the client sees them; each is fetched once."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        self._spark = spark
        self._prefix = prefix
        self._fetched: dict[int, list[Row]] = {}

    def __getitem__(self, number: int) -> list[Row]:
        """Return the rows of a batch."""
        if number not in self._fetched:
            self._fetched[number] = self._spark.table(f"{self._prefix}{number}").collect()
        return self._fetched[number]

    def __iter__(self) -> Iterator[int]:
        """Return the numbers of the batches so far."""
        views = self._spark.catalog.listTables(pattern=f"{self._prefix}*")
        return iter(sorted(int(v.name[len(self._prefix) :]) for v in views))

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)
