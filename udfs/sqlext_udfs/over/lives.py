"""Forget keys of OVER whose time to live is over.

Forgotten with a key is what frames without an end in time keep of it. As in Flink (``table.exec.state.ttl``:
CleanupState of the OVER functions) a key lives from its last row on, and while a row of it waits for the watermark.
Its next row begins it anew: sums from nothing, numbers from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.lives import Lives
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.over.state import OverState, key_numbers


@dataclass(frozen=True, slots=True)
class OverLives:
    """How long keys live.

    Attributes:
        ttl: ms of processing time after a key's last row; None: for ever.
        keys: how many columns a key has.
    """

    ttl: int | None
    keys: int

    def alive(self, state: OverState, clock: Clock) -> OverState:
        """Return a state without the keys whose time is over."""
        if self.ttl is None or not state.written.num_rows:
            return state
        over = integers(state.written.column(self.keys)) <= Lives(self.ttl).now(clock) - self.ttl
        if not over.any():
            return state
        tables = (state.written, state.waiting, state.reached, state.running)
        # One numbering for all tables of the state, then cut back into their rows.
        key = np.split(key_numbers(self.keys, *tables), np.cumsum([t.num_rows for t in tables])[:-1])
        # Not keys with rows that wait: these are still to come out.
        gone = np.setdiff1d(key[0][over], key[1])
        written, _, reached, running = (_filtered(t, ~np.isin(k, gone)) for t, k in zip(tables, key, strict=True))
        return replace(state, written=written, reached=reached, running=running)

    def noted(self, state: OverState, clock: Clock) -> OverState:
        """Return a state in which the keys of the rows that wait are written now."""
        if self.ttl is None or not state.waiting.num_rows:
            return state
        key = key_numbers(self.keys, state.written, state.waiting)
        old, new = key[: state.written.num_rows], key[state.written.num_rows :]
        _, first = np.unique(new, return_index=True)
        columns = [taken(whole(state.waiting.column(i)), first) for i in range(self.keys)]
        now = np.full(len(first), Lives(self.ttl).now(clock), np.int64)
        made = table_of([*columns, pa.array(now)])
        stays = _filtered(state.written, ~np.isin(old, new))
        return replace(state, written=pa.concat_tables([stays, made]) if stays.num_columns else made)

    def first_end(self, state: OverState) -> int | None:
        """Return when (ms of the batch clock) the first key is forgotten; None: never."""
        return Lives(self.ttl).first_end(state.written)


def _filtered(rows: pa.Table, keep: Bools | Ints) -> pa.Table:
    return rows.filter(pa.array(keep)) if rows.num_rows else rows
