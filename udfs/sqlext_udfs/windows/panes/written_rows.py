"""Compute what RETRACTING takes back: the last row written of each open window, and its changes (rule M13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.sets import codes_of
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Bools, Ints, dense, numbered
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE


@dataclass(frozen=True)
class WrittenRows:
    """Rows of windows, at most one for each in state.

    Attributes:
        key: the number of the window's key.
        start, end: its bounds.
        columns: what was written: aggregates, then what PANE_...() give.
    """

    key: Ints
    start: Ints
    end: Ints
    columns: list[pa.Array]

    @classmethod
    def none(cls, types: Sequence[pa.DataType]) -> WrittenRows:
        """Return no rows."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing, [pa.nulls(0, t) for t in types])

    def __len__(self) -> int:
        return len(self.key)

    def take(self, places: Ints) -> WrittenRows:
        """Return the rows at some places."""
        return WrittenRows(
            self.key[places], self.start[places], self.end[places], [taken(c, places) for c in self.columns]
        )

    def and_(self, others: WrittenRows) -> WrittenRows:
        """Return these rows and others behind them."""
        if not len(self):
            return others
        return WrittenRows(
            np.concatenate([self.key, others.key]),
            np.concatenate([self.start, others.start]),
            np.concatenate([self.end, others.end]),
            [pa.concat_arrays([a, b]) for a, b in zip(self.columns, others.columns, strict=True)],
        )


class PaneChanges(NamedTuple):
    """The changes that a step writes.

    Attributes:
        rows: in order.
        kinds: the row kind of each.
        after: the last row written of each open window after that.
    """

    rows: WrittenRows
    kinds: Ints
    after: WrittenRows


def changes(
    before: WrittenRows, panes: WrittenRows, retract: Bools, ended: Sequence[tuple[int, int, int]], compared: int
) -> PaneChanges:
    """Return what panes do to what was written.

    Args:
        before: what was written of windows in earlier steps.
        panes: the panes of this step, in order.
        retract: whether a pane only takes back.
        ended: windows that give no more panes: key, start, end.
        compared: how many columns make a row another one; an equal one is not written again.
    """
    every = before.and_(panes)
    offset, count = len(before), len(every)
    if not count:
        return PaneChanges(panes, np.zeros(0, np.int64), before)
    takes_back = np.concatenate([np.zeros(offset, np.bool_), retract])
    # Rows of earlier steps and panes of this one as one sequence: a window may have several panes in a step.
    windows = numbered((), (every.key, every.start, every.end))
    # Each row's predecessor in its window; one that only takes back has nothing that a later row could take back.
    order = windows.order()
    previous = np.full(count, -1)
    follows = windows.ids[order[1:]] == windows.ids[order[:-1]]
    previous[order[1:][follows]] = order[:-1][follows]
    previous[(previous >= 0) & takes_back[previous]] = -1
    same = (previous >= 0) & ~takes_back
    if same.any():
        codes = _codes(every.columns[:compared], count)
        same &= codes == codes[previous]
    written = _written(previous, same)
    previous = np.where(previous >= 0, written[previous], -1)
    rows, kinds = _rows(every, previous, takes_back, same, offset)
    last = np.append(windows.ids[order[1:]] != windows.ids[order[:-1]], True)
    places = np.sort(order[last])
    return PaneChanges(rows, kinds, _open(every.take(written[places[~takes_back[places]]]), ended))


def _written(previous: Ints, same: Bools) -> Ints:
    """Return for each row the one that stands for it in what was written: itself, or the first of equal ones."""
    row = np.where(same, previous, np.arange(len(previous)))
    # Pointers are doubled: chains of n equal rows end after log2(n) rounds.
    while (row != row[row]).any():
        row = row[row]
    return row


def _rows(every: WrittenRows, previous: Ints, takes_back: Bools, same: Bools, offset: int) -> tuple[WrittenRows, Ints]:
    """Return for each pane: +I, or -U and +U, or -D, or nothing."""
    panes = np.arange(offset, len(every))
    known = previous[panes] >= 0
    back = takes_back[panes]
    old = np.where(known & ~same[panes], previous[panes], -1)
    new = np.where(back | same[panes], -1, panes)
    # For each pane the row that it takes back, then its own; -1 where there is none.
    pairs = np.stack([old, new], axis=1).ravel()
    kinds = np.stack([np.where(back, DELETE, UPDATE_BEFORE), np.where(known, UPDATE_AFTER, INSERT)], axis=1).ravel()
    there = pairs >= 0
    return every.take(pairs[there]), kinds[there].astype(np.int64)


def _open(rows: WrittenRows, ended: Sequence[tuple[int, int, int]]) -> WrittenRows:
    """Return the rows of windows that have not ended."""
    if not ended:
        return rows
    gone = np.asarray(ended, np.int64)
    bounds = (rows.key, rows.start, rows.end)
    windows = numbered((), [np.concatenate([a, gone[:, i]]) for i, a in enumerate(bounds)])
    return rows.take(np.flatnonzero(~np.isin(windows.ids[: len(rows)], windows.ids[len(rows) :])))


def _codes(columns: Sequence[pa.Array], rows: int) -> Ints:
    """Return the same number for equal rows."""
    ids, count = np.zeros(rows, np.int64), 1
    for column in columns:
        codes, size = codes_of(column)
        groups = dense(ids * size + codes, count * size)
        ids, count = groups.ids, groups.count
    return ids
