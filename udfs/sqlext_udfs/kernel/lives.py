"""Forget rows whose time to live is over.

A last column says when each row was written (ms of the batch clock).
"""

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
        """Return the rows that are not forgotten yet.

        Args:
            rows: with the column of times.
            clock: what time it is.
            keeps: which rows stay, however old; None: none.
        """
        if self.ttl is None or not rows.num_rows:
            return rows
        lives = integers(rows.column(rows.num_columns - 1)) > self.now(clock) - self.ttl
        lives = lives if keeps is None else lives | keeps
        return rows if lives.all() else rows.filter(pa.array(lives))

    def split(self, rows: pa.Table) -> tuple[pa.Table, Ints]:
        """Return rows without the column of times, and the column; zeros where there is none."""
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
        # Rows that came are written now; of those that were held only some are.
        times = np.full(len(now), self.now(clock), np.int64)
        times[: len(written)] = np.where(now[: len(written)], times[: len(written)], written)
        # Last, so that positions of all other columns are the same with and without a time to live.
        return rows.append_column("written", pa.array(times[places]))

    def first_end(self, rows: pa.Table) -> int | None:
        """Return when (ms of the batch clock) the first row is forgotten; None: never."""
        if self.ttl is None or not rows.num_rows:
            return None
        return int(integers(rows.column(rows.num_columns - 1)).min()) + self.ttl

    def now(self, clock: Clock) -> int:
        """Return the batch clock (ms), which an operator with a time to live has always."""
        assert clock.now is not None, "rows with a time to live need the batch clock"
        return clock.now
