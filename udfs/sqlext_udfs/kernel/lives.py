"""Rows with a time to live: a last column says when each was written (ms of the batch clock)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.operator import Clock


@dataclass(frozen=True, slots=True)
class Lives:
    """How long rows live.

    Attributes:
        ttl: ms of processing time after which a row that was not written is forgotten; None: for ever, and rows have
            no such column.
    """

    ttl: int | None

    def alive(self, rows: pa.Table, clock: Clock, *, keeps: Bools | None = None) -> pa.Table:
        """Return the rows that are not forgotten yet; ``keeps``: which are not to be."""
        if self.ttl is None or not rows.num_rows:
            return rows
        lives = integers(rows.column(rows.num_columns - 1)) > self.now(clock) - self.ttl
        lives = lives if keeps is None else lives | keeps
        return rows if lives.all() else rows.filter(pa.array(lives))

    def split(self, rows: pa.Table) -> tuple[pa.Table, Ints]:
        """Return rows without the column, and the column."""
        if self.ttl is None or not rows.num_columns:
            return rows, np.zeros(rows.num_rows, np.int64)
        last = rows.num_columns - 1
        return rows.remove_column(last), integers(rows.column(last))

    def joined(self, rows: pa.Table, written: Ints, places: Ints, now: Bools, clock: Clock) -> pa.Table:
        """Return rows with the column.

        Args:
            rows: without it.
            written: when the rows that were held were.
            places: of the rows among those held, and behind them those that came.
            now: which of all these are written now.
            clock: what time it is.
        """
        times = np.full(len(now), self.now(clock), np.int64)
        times[: len(written)] = np.where(now[: len(written)], times[: len(written)], written)
        return rows.append_column("written", pa.array(times[places]))

    def first_end(self, rows: pa.Table) -> int | None:
        """Return when the first row is forgotten."""
        if self.ttl is None or not rows.num_rows:
            return None
        return int(integers(rows.column(rows.num_columns - 1)).min()) + self.ttl

    def now(self, clock: Clock) -> int:
        """Return what time it is."""
        assert clock.now is not None, "rows with a time to live need the batch clock"
        return clock.now
