"""Choose the times of an element: of a row by itself, or of all rows of a key and window of a batch.

These times are columns of BIGINT (ms, UTC). They travel with an element, besides its key and partial results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.groups import Groups, Ints, numbered
from sqlext_udfs.windows.panes.columns import EARLIEST, LATEST, reduced
from sqlext_udfs.windows.panes.pieces import times_of
from sqlext_udfs.windows.panes.rows import ElementRows
from sqlext_udfs.windows.panes.session_rules import SessionRules, gaps_of
from sqlext_udfs.windows.panes.slices import Slicing
from sqlext_udfs.windows.policy import Session
from sqlext_udfs.windows.specification import WindowSpecification

Times = list[Ints]


class ElementTiming(ABC):
    """Which times of rows an element has: a subclass for each way in which windows go by time.

    Attributes:
        columns: how many columns of times there are.
        shared: whether rows of one window can be of several elements of a batch, or windows grow together.
    """

    columns: int
    shared = False

    @abstractmethod
    def read(self, rows: pa.Table) -> Times:
        """Return the times of rows."""

    @abstractmethod
    def pieces(self, keys: Groups, times: Times) -> Groups:
        """Return which rows can be one element."""

    @abstractmethod
    def rows(self, keys: Ints, times: Times, counts: Ints) -> ElementRows:
        """Return elements as the engine takes them."""

    def joined(self, times: Times, groups: Groups, first: Ints) -> Times:
        """Return the times of rows that are one element: those of the first."""
        return [t[first] for t in times]


@dataclass(frozen=True)
class NoTimes(ElementTiming):
    """Windows of the batch clock, or no windows: only the key matters.

    Attributes:
        gap: the column of each row's session gap, if it has one.
    """

    gap: int | None

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Return how many times an element has."""
        return 0 if self.gap is None else 1

    def read(self, rows: pa.Table) -> Times:
        """Return the session gaps."""
        return [] if self.gap is None else [gaps_of(rows, self.gap)]

    def pieces(self, keys: Groups, times: Times) -> Groups:
        """Return the keys."""
        return keys

    def joined(self, times: Times, groups: Groups, first: Ints) -> Times:
        """Return the largest gap: all windows begin now."""
        return [reduced(LATEST, t, groups) for t in times]

    def rows(self, keys: Ints, times: Times, counts: Ints) -> ElementRows:
        """Return elements without time."""
        return ElementRows(keys, count=counts, gap=times[0] if times else None)


@dataclass(frozen=True)
class RowTimes(ElementTiming):
    """Event time, with windows that are made of slices, or without windows.

    Attributes:
        time: its column.
        slicing: how windows are cut; None without windows.
    """

    time: int
    slicing: Slicing | None
    columns = 1

    @property
    def shared(self) -> bool:  # type: ignore[override]
        """Whether windows are of several slices."""
        return self.slicing is not None and self.slicing.is_shared

    def read(self, rows: pa.Table) -> Times:
        """Return the event times."""
        return [times_of(rows, self.time)]

    def pieces(self, keys: Groups, times: Times) -> Groups:
        """Return the keys' slices; rows that lie between windows are by themselves."""
        if self.slicing is None:
            return keys
        slices, inside = self.slicing.assign(times[0])
        return numbered((), (keys.ids, slices) if inside is None else (keys.ids, slices, inside.astype(np.int64)))

    def rows(self, keys: Ints, times: Times, counts: Ints) -> ElementRows:
        """Return elements at the time of their first row."""
        return ElementRows(keys, times[0], counts)


@dataclass(frozen=True)
class GivenTimes(ElementTiming):
    """Windows that SQL gave each row.

    Attributes:
        start, end: positions of the columns of their bounds (ms, end exclusive).
    """

    start: int
    end: int
    columns = 2

    def read(self, rows: pa.Table) -> Times:
        """Return the windows."""
        return [times_of(rows, self.start), times_of(rows, self.end)]

    def pieces(self, keys: Groups, times: Times) -> Groups:
        """Return the keys' windows."""
        return numbered((), (keys.ids, *times))

    def rows(self, keys: Ints, times: Times, counts: Ints) -> ElementRows:
        """Return elements with their windows."""
        return ElementRows(keys, times[0], counts, start=times[0], end=times[1])


@dataclass(frozen=True)
class SessionTimes(ElementTiming):
    """Sessions of event time.

    Attributes:
        rules: how rows become sessions.
    """

    rules: SessionRules
    columns = 3
    shared = True

    def read(self, rows: pa.Table) -> Times:
        """Return each row's own window and its event time."""
        starts, ends = self.rules.windows(rows)
        return [starts, ends, starts]

    def pieces(self, keys: Groups, times: Times) -> Groups:
        """Return the keys' sessions."""
        return self.rules.sessions_of_rows(keys, times[0], times[1]).groups

    def joined(self, times: Times, groups: Groups, first: Ints) -> Times:
        """Return the session of rows, and the event time of the first."""
        # The first row's own time too: EVERY d OF EVENT TIME begins with the row that came first (M15).
        return [reduced(EARLIEST, times[0], groups), reduced(LATEST, times[1], groups), times[2][first]]

    def rows(self, keys: Ints, times: Times, counts: Ints) -> ElementRows:
        """Return elements from the least to the largest event time."""
        starts, ends, first = times
        gap = self.rules.fixed
        if gap is None:
            # With a gap of each row only start and end are known: one gap between them stands for all.
            return ElementRows(keys, first, counts, least=starts, greatest=starts, gap=ends - starts)
        return ElementRows(keys, first, counts, least=starts, greatest=ends - gap)


def timing_of(of: WindowSpecification, slicing: Slicing | None, rules: SessionRules | None) -> ElementTiming:
    """Return which times matter to a specification."""
    if of.start is not None and of.end is not None:
        return GivenTimes(of.start, of.end)
    if of.time is None or of.policy.processing_time:
        return NoTimes(of.gap if isinstance(of.policy.window, Session) else None)
    return RowTimes(of.time, slicing) if rules is None else SessionTimes(rules)


def ordered_by_first(groups: Groups) -> Groups:
    """Return groups with numbers in the order of their first rows."""
    first = groups.first()
    rank = np.empty(groups.count, np.int64)
    rank[np.argsort(first)] = np.arange(groups.count)
    return Groups(rank[groups.ids], groups.count)
