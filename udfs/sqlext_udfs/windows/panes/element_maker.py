"""Make elements of the trigger engine from rows, before the shuffle where they can be made there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import taken, whole
from sqlext_udfs.kernel.groups import Groups, Ints, numbered
from sqlext_udfs.windows.panes.columns import COUNTED, PARTIAL, PartialLayout, PartialResults, is_partial
from sqlext_udfs.windows.panes.elements import ElementTiming, Times, ordered_by_first
from sqlext_udfs.windows.panes.rows import ElementRows


class Batch(NamedTuple):
    """The elements of a micro-batch.

    Attributes:
        kept: keys, times, numbers of rows and partial results of elements; no partial results where a row is one.
        rows: the rows; None where elements came as such.
        groups: the element of each row; None where a row is one.
        values: what triggers look at; only where a row is one.
    """

    kept: PartialResults
    rows: pa.Table | None = None
    groups: Groups | None = None
    values: tuple[npt.NDArray[np.float64], ...] = ()


class ElementMaker:
    """Make elements: one for each row, or one for all rows of a batch, key and window.

    Args:
        timing: which times of rows matter.
        layout: of keys, times and partial results in a table that travels.
        values: positions of the columns that triggers and evictors look at.
        combines: whether rows of a batch, key and window may be one element.
        early: whether they may be so before the shuffle already; not where late rows come out.
    """

    def __init__(
        self, timing: ElementTiming, layout: PartialLayout, values: tuple[int, ...], *, combines: bool, early: bool
    ) -> None:
        self.layout = layout
        self._timing = timing
        self._values = values
        self._combines = combines
        # Order goes through elements that meet in a window only with each row's place among all rows.
        self._early = combines and early and not (layout.aggregation.ordered and timing.shared)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return elements, each with its bucket; or the rows, where elements are made later."""
        if not self._early:
            return rows
        last = rows.num_columns - 1
        buckets = whole(rows.column(last))
        rows = rows.remove_column(last)
        if is_partial(rows):
            kept = self.layout.read(rows)
            groups = self._pieces(kept)
            first = groups.first()
            kept = self.layout.joined(kept, groups, COUNTED)
            kept = kept._replace(bounds=self._timing.joined(self.layout.read(rows).bounds, groups, first))
        else:
            kept, first = self._in_order(rows)
        columns = [*self.layout.columns(kept), taken(buckets, first)]
        return pa.table(columns, [*(f"{PARTIAL}{i}" for i in range(len(columns) - 1)), "bucket"])

    def batch(self, rows: pa.Table, arrived: int) -> Batch:
        """Return what has come as elements.

        Args:
            rows: rows, or results of ``partial``.
            arrived: how many rows came before.
        """
        if is_partial(rows):
            kept = self.layout.read(rows)
            return Batch(kept._replace(partials=self.layout.aggregation.renumbered(kept.partials, arrived)))
        if self._combines:
            kept, groups = self._combined(rows, arrived)
            return Batch(kept, rows, groups)
        kept = self._each(rows)
        return Batch(kept, rows, None, tuple(_numbers(rows.column(v)) for v in self._values))

    def rows(self, batch: Batch, keys: Ints) -> ElementRows:
        """Return a batch's elements as the engine takes them.

        Args:
            batch: the elements.
            keys: the number of each one's key.
        """
        return replace(self._timing.rows(keys, batch.kept.bounds, batch.kept.marks), values=batch.values)

    def _each(self, rows: pa.Table) -> PartialResults:
        return PartialResults(
            self.layout.key_columns(rows), self._timing.read(rows), np.ones(rows.num_rows, np.int64), []
        )

    def _combined(self, rows: pa.Table, arrived: int) -> tuple[PartialResults, Groups]:
        keys, times = self.layout.key_columns(rows), self._timing.read(rows)
        # The engine takes elements in the order of arrival (M5).
        groups = ordered_by_first(self._timing.pieces(numbered(keys, (), rows.num_rows), times))
        return self._joined(rows, keys, times, groups, arrived)[0], groups

    def _in_order(self, rows: pa.Table) -> tuple[PartialResults, Ints]:
        """Return elements of rows in the order of their first rows, and the places of these.

        Elements are put in order, which are fewer, and not the numbers of all rows.
        """
        keys, times = self.layout.key_columns(rows), self._timing.read(rows)
        # Where elements have times these are looked up by group.
        gaps = self.layout.aggregation.takes_gaps and not self._timing.columns
        groups = self._timing.pieces(numbered(keys, (), rows.num_rows, gaps=gaps), times)
        made, first = self._joined(rows, keys, times, groups, 0)
        order = np.argsort(first)
        return made.take(order), first[order]

    def _joined(
        self, rows: pa.Table, keys: Sequence[pa.Array], times: Times, groups: Groups, arrived: int
    ) -> tuple[PartialResults, Ints]:
        places = self.layout.aggregation.places(arrived, rows.num_rows)
        kept, first = self.layout.of_groups(rows, keys, groups, places)
        return kept._replace(bounds=self._timing.joined(times, groups, first)), first

    def _pieces(self, kept: PartialResults) -> Groups:
        keys = numbered(kept.keys, (), kept.rows())
        # The engine takes elements in the order of arrival (M5).
        return ordered_by_first(self._timing.pieces(keys, kept.bounds))


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return a column of numbers; NaN for NULL."""
    return np.asarray(pc.fill_null(whole(column).cast(pa.float64()), float("nan")).to_numpy(), np.float64)
