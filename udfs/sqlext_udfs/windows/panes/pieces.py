"""Divide windows into pieces: slices that they share, or windows that SQL gave.

Bounds are columns of milliseconds (UTC). Equal bounds of a key are one piece.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import integers
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.windows.panes.slices import Slicing, Spanned
from sqlext_udfs.windows.policy import Cumulate, Hop, Tumble, WindowKind

Bounds = list[Ints]


class Pieces(ABC):
    """The pieces of one kind of windows.

    Attributes:
        columns: how many columns of bounds there are.
        shared: whether a window can be of several pieces.
    """

    columns: int
    shared: bool

    @abstractmethod
    def assign(self, rows: pa.Table) -> tuple[Bounds, Bools | None]:
        """Return the piece of each row, and which rows are in a window at all; None for all."""

    @abstractmethod
    def last_ends(self, bounds: Bounds) -> Ints:
        """Return the end of the last window of each piece."""

    @abstractmethod
    def next_ends(self, bounds: Bounds, after: int) -> Ints:
        """Return the end of the first window of each piece that ends after a time, if there is one."""

    def spanned(self, keys: Ints, bounds: Bounds, after: int, until: int) -> Spanned:
        """Return the windows that end after one time, and not after another, over pieces that are shared.

        Args:
            keys: a number for each key, from 0.
            bounds: of the pieces, which lie by key and time.
            after, until: the times (ms).
        """
        raise ValueError("a window has one piece")

    def settled(self, bounds: Bounds, done: int) -> Bounds:
        """Return bounds by which pieces join that are in the same windows from now on.

        Args:
            bounds: of the pieces.
            done: windows that end up to this time (ms) are over.
        """
        return bounds


class SlicePieces(Pieces):
    """Slices of fixed width.

    Args:
        slicing: how they are cut.
        time: the column of the rowtime.
    """

    columns = 1

    def __init__(self, slicing: Slicing, time: int) -> None:
        self._slicing = slicing
        self._time = time
        self.shared = slicing.is_shared

    def assign(self, rows: pa.Table) -> tuple[Bounds, Bools | None]:
        """Return the slice of each row."""
        starts, inside = self._slicing.assign(times_of(rows, self._time))
        return [starts], inside

    def last_ends(self, bounds: Bounds) -> Ints:
        """Return the end of the last window of each slice."""
        return self._slicing.last_ends(bounds[0])

    def next_ends(self, bounds: Bounds, after: int) -> Ints:
        """Return the end of the next window of each slice."""
        return self._slicing.next_ends(bounds[0], after)

    def spanned(self, keys: Ints, bounds: Bounds, after: int, until: int) -> Spanned:
        """Return windows with their slices."""
        return self._slicing.spanned(keys, bounds[0], after, until)

    def settled(self, bounds: Bounds, done: int) -> Bounds:
        """Return for slices of CUMULATE that are in all windows still to come the first slice."""
        if not self._slicing.cumulating:
            return bounds
        # Windows of CUMULATE grow from one start: a slice that is over is in each window of its period still to come.
        over = bounds[0] + self._slicing.width <= done
        return [np.where(over, self._slicing.periods(bounds[0]), bounds[0])]


class GivenPieces(Pieces):
    """Windows that came with their rows; they share nothing.

    Args:
        start, end: the columns of their bounds.
    """

    columns = 2
    shared = False

    def __init__(self, start: int, end: int) -> None:
        self._bounds = (start, end)

    def assign(self, rows: pa.Table) -> tuple[Bounds, Bools | None]:
        """Return the window of each row."""
        return [times_of(rows, b) for b in self._bounds], None

    def last_ends(self, bounds: Bounds) -> Ints:
        """Return the windows' ends."""
        return bounds[1]

    def next_ends(self, bounds: Bounds, after: int) -> Ints:
        """Return the windows' ends."""
        return bounds[1]


def slicing_of(window: WindowKind) -> Slicing | None:
    """Return how windows of a kind are cut into slices; None for others."""
    if isinstance(window, Tumble):
        return Slicing(window.size, window.size, window.offset)
    if isinstance(window, Hop):
        return Slicing(window.size, window.slide, window.offset)
    if isinstance(window, Cumulate):
        # CUMULATE whose step is its size is TUMBLE.
        return Slicing(window.size, window.step, window.offset, cumulating=window.step != window.size)
    return None


def times_of(rows: pa.Table, place: int) -> Ints:
    """Return a column of event times.

    Raises:
        SqlExtError: RUN-036 if one is NULL.
    """
    column = rows.column(place)
    if column.null_count:
        raise SqlExtError(
            "RUN-036",
            "a row has no event time: it is NULL",
            hint="filter such rows out before the window (WHERE ts IS NOT NULL)",
        )
    return integers(column)
