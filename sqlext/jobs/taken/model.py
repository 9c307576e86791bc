"""Define what is known of the micro-batches of a query."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlext.locations import for_spark, local_path
from sqlext_udfs.kernel.clock import Clock

#: In place of a watermark: the input had come to its end.
END = Clock.END


@dataclass(frozen=True)
class Taken:
    """The micro-batch that took a file or a row.

    Attributes:
        batch: its number.
        watermark: that by which it judged rows, in ms since 1970; None before the first one, or if it is not known.
    """

    batch: int
    watermark: int | None


@dataclass(frozen=True)
class BatchTime:
    """What time it was in a micro-batch, in ms since 1970 UTC.

    Attributes:
        batch: its number.
        watermark: that by which its windows ended, or ``END``; None before the first one.
        late: the same of the micro-batch before, by which its rows were judged; None if that was the first one.
        clock: processing time; None where that is not known.
    """

    batch: int
    watermark: int | None
    late: int | None
    clock: int | None


@dataclass(frozen=True)
class TakenRows:
    """Which micro-batches took the rows of one table.

    Attributes:
        by_path: those that are known, by ``path_key`` of their files.
        by_split: of each split the ends of those that are known, in their order.
        whole: that of a query that took at once all that was there; None for another one.
        until: when it began, in ms since 1970 UTC: of later files it is not known.
        ends: how far a query got that took at once what was there, by split; None where that is not known.
    """

    by_path: Mapping[str, Taken] = field(default_factory=dict)
    whole: Taken | None = None
    until: int | None = None
    by_split: Mapping[str, Sequence[tuple[int, Taken]]] = field(default_factory=dict)
    ends: Mapping[str, int] | None = None

    def of(self, path: str, arrived: int | None) -> Taken | None:
        """Return the micro-batch that took a file, None if that is not known.

        Args:
            arrived: when it was written, in ms since 1970 UTC, if that is known.
        """
        later = self.until is not None and arrived is not None and arrived > self.until
        return self.by_path.get(path_key(path), None if later else self.whole)

    def of_position(self, split: str, begin: int, end: int) -> Taken | None:
        """Return the micro-batch that took what lies between two positions of a split; None if not one alone did."""
        if self.ends is not None:
            return self.whole if end <= self.ends.get(split, 0) else None
        known = self.by_split.get(split, ())
        index = bisect_right([reached for reached, _ in known], begin)
        if index == len(known) or known[index][0] < end:
            return None
        taken = known[index][1]
        # What came before the first batch that is kept was taken by one of those that are gone.
        return taken if index or taken.batch == 0 else None


@dataclass(frozen=True)
class QueryHistory:
    """The micro-batches of a query.

    Attributes:
        times: those that are done and not forgotten, in their order.
        tables: what they took of each table, in the order in which they were asked for.
        watermark: how far the query's watermark is, in ms since 1970; None if that is not known.
    """

    times: Sequence[BatchTime] = ()
    tables: Sequence[TakenRows] = ()
    watermark: int | None = None


def path_key(path: str) -> str:
    """Return a path or URL in the one form by which files are compared."""
    return local_path(path) or for_spark(path)
