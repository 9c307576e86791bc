"""Make the rows that come out: windows with rows and those without, in the order in which they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.groups import Ints, stable_order
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.windows.filling.gaps import Gaps
from sqlext_udfs.windows.filling.grid import WindowGrid
from sqlext_udfs.windows.filling.specification import FILLED, Filling
from sqlext_udfs.windows.filling.state import Entries
from sqlext_udfs.windows.specification import PANE_COLUMNS

#: Columns behind those of a pane: the late row, and its watermark.
LATE_COLUMNS = 2
# What the columns of a pane have in a window without rows, but for the time: its only pane is the first and the last.
_OF_PANE = dict(zip((name for name, _ in PANE_COLUMNS), (0, 0, FILLED, True, True, None, INSERT), strict=True))
_TIME = "pane_timestamp"
# Numbers of 16 bits are sorted by their digits, in a part of the time.
_FEW = 1 << 15


class DueWindows(NamedTuple):
    """What comes out of a step.

    Attributes:
        panes: windows with rows, a table as the operator of windows gives it.
        places: their places among the entries.
        numbers: theirs.
        entries: keys, and results where they are carried.
        gaps: windows without rows, and the places of entries that they follow.
    """

    panes: pa.Table
    places: Ints
    numbers: Ints
    entries: Entries
    gaps: Gaps


class FilledRows:
    """Makes tables of the columns that are asked for. Each is gathered once, as there may be millions of rows.

    Args:
        filling, grid: which windows there are.
        types: name and type of each column of windows with rows (``output_types``).
        keys: how many of them are keys, those of the window too.
        carried: types of the results that entries have; none where they are not kept.
        asked: positions of the columns that come out; None for all.
    """

    def __init__(
        self,
        filling: Filling,
        grid: WindowGrid,
        types: Sequence[tuple[str, pa.DataType]],
        keys: int,
        carried: Sequence[pa.DataType],
        asked: Sequence[int] | None = None,
    ) -> None:
        self._filling, self._grid = filling, grid
        self._types = list(types)
        self._keys = keys
        self._more = [*carried, pa.float64()] if filling.joins else []
        self._asked = list(range(len(types) + len(self._more)) if asked is None else asked)
        self._carries = filling.carries or filling.joins

    def as_they_are(self, rows: pa.Table) -> pa.Table:
        """Return windows with rows, or late rows."""
        if not rows.num_columns:
            return rows
        columns = [*rows.columns, *(pa.nulls(rows.num_rows, of) for of in self._more)]
        return table_of([columns[i] for i in self._asked])

    def of(self, found: DueWindows) -> pa.Table:
        """Return windows with rows, and those without."""
        if self._filling.zone is not None:
            starts, ends = self._grid.bounds(found.gaps.numbers)
            # An hour that the clock leaves out is no window.
            found = found._replace(gaps=found.gaps.at(np.flatnonzero(ends > starts)))
        # Windows with rows stand before those without until the order mixes them.
        order = _order(np.concatenate([found.numbers, found.gaps.numbers]))
        entries = np.concatenate([found.places, found.gaps.entries])[order]
        bounds = self._bounds(found)
        return table_of([self._column(i, found, order, entries, bounds) for i in self._asked])

    def _bounds(self, found: DueWindows) -> list[Ints]:
        """Return starts and ends, in no order yet."""
        made = self._grid.bounds(found.gaps.numbers)
        had = (integers(found.panes.column(self._keys + i)) for i in range(2))
        return [np.concatenate(pair) for pair in zip(had, made, strict=True)]

    def _column(self, place: int, found: DueWindows, order: Ints, entries: Ints, bounds: Sequence[Ints]) -> pa.Array:
        """Return the column of a position."""
        keys, results = self._keys - self._filling.keys_of_window, self._keys + 2
        if place < keys:
            return taken(found.entries.keys[place], entries)
        if place < self._keys:
            walls = pa.array(self._grid.walls(found.gaps.numbers)[place - keys]).cast(pa.timestamp("ms"))
            both = [whole(found.panes.column(place)), walls.cast(self._types[place][1])]
            return taken(pa.concat_arrays(both), order)
        if place < results:
            return pa.array(bounds[place - self._keys][order])
        if place >= len(self._types):
            return self._next(place - len(self._types), found, order)
        name, of = self._types[place]
        if place >= len(self._types) - LATE_COLUMNS:
            return pa.nulls(len(order), of)
        if name == _TIME:
            return pa.array(bounds[1][order] - 1)
        if name not in _OF_PANE and self._carries:
            return taken(found.entries.results[place - results], entries)
        # Behind the values of windows with rows stands the one of all others.
        values = [whole(found.panes.column(place)), pa.array([_OF_PANE.get(name)], of)]
        return taken(pa.concat_arrays(values), np.minimum(order, found.panes.num_rows))

    def _next(self, place: int, found: DueWindows, order: Ints) -> pa.Array:
        """Return a result of the next window with rows, or the weight, which stands behind them."""
        none = np.full(found.panes.num_rows, -1)
        if place < len(self._more) - 1:
            return taken(found.entries.results[place], np.concatenate([none, found.gaps.nexts])[order])
        return taken(pa.array(found.gaps.weights), np.where(order < len(none), -1, order - len(none)))


def _order(numbers: Ints) -> Ints:
    """Return the places of windows by their numbers; those of one number keep their order."""
    if len(numbers) and int(numbers.max()) - int(numbers.min()) < _FEW:
        return np.argsort((numbers - numbers.min()).astype(np.int16), kind="stable")
    return stable_order(numbers)
