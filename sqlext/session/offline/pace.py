"""Estimate how long a query will read, by what its micro-batches have taken so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlext.jobs.checkpoint import QueryHome
from sqlext.session.offline.script_plan import ReadPlan
from sqlext.watermarks.history import samples


@dataclass(frozen=True, slots=True)
class ReadingPace:
    """What a query has read since it began, as far as its history goes back.

    Attributes:
        rows: that it has read.
        busy_ms: time within its micro-batches.
        whole: whether the history has all of its micro-batches.
    """

    rows: int
    busy_ms: int
    whole: bool

    def ms_for(self, reads: Sequence[ReadPlan], before: Sequence[ReadPlan]) -> int | None:
        """Return how many ms a read takes at this pace, by its rows, else by its bytes; None where neither is known.

        Args:
            before: what the query has read.
        """
        if not self.busy_ms or not self.rows or not reads:
            return None
        rows = [read.rows for read in reads]
        if None not in rows:
            return sum(n for n in rows if n is not None) * self.busy_ms // self.rows
        sizes, known = [read.bytes for read in reads], [read.bytes for read in before]
        if not self.whole or None in sizes or None in known:
            return None
        then = sum(n for n in known if n is not None)
        return sum(n for n in sizes if n is not None) * self.busy_ms // then if then else None


def pace_of(home: QueryHome) -> ReadingPace:
    """Return the pace of a query by its folder."""
    # Counts begin anew with each start: the last sample of a start has all of it.
    lasts = {sample.began: sample for sample in samples(home.progress)}.values()
    batches = sum(sample.batch for sample in lasts)
    rows, busy = sum(s.rows_in for s in lasts), sum(s.busy_ms for s in lasts)
    return ReadingPace(rows, busy, batches >= home.last_batch() + 1 > 0)
