"""Bring the rows of a batch into this process where they are few; all of them are computed once, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Spark's number of a row counts within its partition in these bits.
_WITHIN = (1 << 33) - 1
#: How many batches after one of many rows are not tried.
_PAUSE = 10


class Few(NamedTuple):
    """Which batches are few: up to how many rows, and bytes of the files that the commit may rewrite."""

    rows: int = 0
    bytes: int = 0


#: No batch is few.
NOTHING = Few()


class FewRows(NamedTuple):
    """The rows of a batch: kept by Spark, and in this process where they are few."""

    kept: DataFrame
    here: pa.Table | None


@dataclass
class Attempts:
    """Remembers that batches have many rows now: to keep those until it is known costs more than it gives."""

    left_out: int = 0

    def is_due(self) -> bool:
        """Return whether the rows of the next batch are to be counted."""
        self.left_out = max(0, self.left_out - 1)
        return not self.left_out

    def told(self, *, few: bool) -> None:
        """Take note of a batch whose rows were counted: whether it was written here."""
        self.left_out = 0 if few else _PAUSE + 1


@contextmanager
def few_rows(rows: DataFrame, most: int) -> Iterator[FewRows]:
    """Compute rows in one job of Spark, keep them for the block, and give them here if they are no more than ``most``.

    The order of a partition's rows is kept.
    """
    kept = rows.persist()
    try:
        # A partition gives one row more than may be. LIMIT would not compute all partitions, nor commit their state.
        found = kept.where(f"monotonically_increasing_id() & {_WITHIN} <= {most}").toArrow()
        yield FewRows(kept, found if found.num_rows <= most else None)
    finally:
        kept.unpersist()
