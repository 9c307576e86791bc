"""Work on the rows of an operator where they come out, in a query that is one batch."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.connectors.splits import Passes
from sqlext.sources.packed import PackedWork
from sqlext.sources.stream import Read, Work
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.packing import by_bucket
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded
from sqlext_udfs.making import MadeHere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The most rows that are worked on at a time.
_ROWS = 1 << 17


@dataclass(frozen=True)
class HandedRows:
    """The rows of an operator, not computed yet.

    Attributes:
        packed: what goes in, packed by bucket (``packing.PACKED``).
        operator: the semantics, and the columns that come out.
    """

    packed: DataFrame
    operator: MadeHere

    def worked(self, work: Work, schema: str) -> DataFrame:
        """Return what some work makes of them, as a static DataFrame.

        Args:
            work: what is done; it sees the rows of some buckets as those of a slice.
            schema: Spark DDL of what comes out of it.
        """
        now = int(clock.time() * 1000)
        # Spark puts small partitions together: so few files come of few rows. A partition has whole buckets.
        return self.packed.repartition("bucket").mapInArrow(partial(_worked, self.operator, now, work), schema)


def _worked(operator: MadeHere, now: int, work: Work, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what some work makes of the rows that an operator gives in one step of each bucket."""
    from pyspark import TaskContext

    context = TaskContext.get()
    schema = pa.schema(list(operator.columns))
    buckets = by_bucket(pa.Table.from_batches(found)) if (found := list(batches)) else []

    def read(passes: Passes | None) -> Iterator[pa.RecordBatch]:
        while buckets:
            rows = operator.operator.gathered(buckets.pop())
            out = operator.operator.step(operator.operator.empty(), rows, Clock(Clock.END, None, now)).out
            if out.num_columns:
                named = out.rename_columns(schema.names).cast(schema).combine_chunks()
                yield from named.to_batches(max_chunksize=_ROWS)

    yield from work.process("", read, context.partitionId() if context is not None else 0)
    spare_what_is_loaded()


@dataclass(frozen=True)
class OnwardWork(Work):
    """The partial work of the next operator: its packed rows (``packing.PACKED``), without marks."""

    work: PackedWork

    def process(self, split: str, read: Read, place: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield packed rows."""
        for batch in self.work.process(split, read, place):
            rows = batch.select(["bucket", "rows", "now"])
            yield rows.filter(pc.is_valid(rows["rows"]))
