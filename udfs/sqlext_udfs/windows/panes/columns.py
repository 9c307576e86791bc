"""Hold keys, bounds and partial results in one table: what a bucket keeps, and what travels to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.aggregation import Aggregation, Named
from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Groups, Ints, numbered

#: How marks and times of joined results are joined.
EARLIEST, LATEST, COUNTED = np.minimum, np.maximum, np.add
#: The names of columns of partial results begin with it while they travel, so that they are not taken for rows.
PARTIAL = "partial"


class PartialResults(NamedTuple):
    """Partial results of keys and pieces of windows, by column.

    Attributes:
        keys: the keys.
        bounds: of the pieces of windows (ms).
        marks: while they travel, how many rows each is of (``COUNTED``). In state, up to which window end (ms) the
            watermark had passed when the first row came (``EARLIEST``); of sessions, whether their pane will be LATE.
        partials: the aggregates' partial results.
    """

    keys: list[pa.Array]
    bounds: list[Ints]
    marks: Ints
    partials: list[pa.Array]

    def rows(self) -> int:
        """Return how many there are."""
        return len(self.marks)

    def take(self, places: Ints) -> PartialResults:
        """Return those at some places."""
        return PartialResults(
            [taken(k, places) for k in self.keys],
            [b[places] for b in self.bounds],
            self.marks[places],
            [taken(p, places) for p in self.partials],
        )


@dataclass(frozen=True)
class PartialLayout:
    """The order of columns in a table of partial results: keys, bounds, marks, partial results.

    Attributes:
        keys: how many key columns there are.
        bounds: how many columns of bounds.
        aggregation: the aggregates.
    """

    keys: int
    bounds: int
    aggregation: Aggregation

    def read(self, table: pa.Table) -> PartialResults:
        """Return the partial results in a table; columns behind them are left alone."""
        columns = [whole(c) for c in table.columns]
        place = self.keys + self.bounds
        bounds = [integers(c) for c in columns[self.keys : place]]
        marks = columns[place]
        known = np.zeros(len(marks), np.int64) if pa.types.is_null(marks.type) else integers(marks)
        partials = columns[place + 1 : place + 1 + len(self.aggregation.partial_types)]
        return PartialResults(columns[: self.keys], bounds, known, partials)

    def columns(self, kept: PartialResults) -> list[pa.Array]:
        """Return the columns of a table that travels."""
        # The form of the state, and of what travels: ``read`` finds columns by this order.
        return [*kept.keys, *(pa.array(b) for b in kept.bounds), pa.array(kept.marks), *kept.partials]

    def state(self, kept: PartialResults) -> pa.Table:
        """Return a table to keep. Marks that say nothing take no space."""
        columns = self.columns(kept)
        if not kept.marks.any():
            columns[self.keys + self.bounds] = pa.nulls(kept.rows())
        return table_of(columns)

    def moved(self, table: pa.Table, named: Named) -> pa.Table:
        """Return a table that was kept for aggregates of some names, for those of this layout."""
        place = self.keys + self.bounds + 1
        partials = [whole(c) for c in table.columns[place:]]
        moved = self.aggregation.moved(named, partials, table.num_rows)
        return table_of([*table.columns[:place], *moved])

    def key_columns(self, rows: pa.Table) -> list[pa.Array]:
        """Return the keys of rows as they came."""
        return [whole(c) for c in normalised(rows.select(range(self.keys))).columns]

    def start(self, rows: pa.Table, bounds: list[Ints], positions: Ints) -> tuple[PartialResults, Ints]:
        """Return partial results of rows as they came, with their numbers, and the first row of each."""
        keys = self.key_columns(rows)
        groups = numbered(keys, bounds, rows.num_rows, gaps=self.aggregation.takes_gaps)
        kept, first = self.of_groups(rows, keys, groups, positions)
        return kept._replace(bounds=[b[first] for b in bounds]), first

    def of_groups(
        self, rows: pa.Table, keys: Sequence[pa.Array], groups: Groups, positions: Ints
    ) -> tuple[PartialResults, Ints]:
        """Return partial results of the groups that have rows, without bounds, and the first row of each."""
        partials = self.aggregation.start_counting(rows, groups, positions)
        sizes, first = groups.sizes(), groups.first()
        used = np.flatnonzero(sizes)
        if len(used) < groups.count:
            first, sizes, partials = first[used], sizes[used], [taken(p, used) for p in partials]
        return PartialResults([taken(k, first) for k in keys], [], sizes, partials), first

    def joined(self, kept: PartialResults, groups: Groups, marks: np.ufunc) -> PartialResults:
        """Return partial results joined by group, with keys and bounds of the first of each.

        Args:
            kept: partial results.
            groups: the group of each.
            marks: what is made of marks: ``EARLIEST`` or ``COUNTED``.
        """
        # One result for each group already, in the order of groups.
        if groups.count == kept.rows() and not (np.diff(groups.ids) < 0).any():
            return kept
        first = groups.first()
        partials = self.aggregation.merge(kept.partials, groups)
        keys, bounds = [taken(k, first) for k in kept.keys], [b[first] for b in kept.bounds]
        return PartialResults(keys, bounds, reduced(marks, kept.marks, groups), partials)


def reduced(by: np.ufunc, values: Ints, groups: Groups) -> Ints:
    """Return the values of each group joined by ``EARLIEST``, ``LATEST`` or ``COUNTED``."""
    limits = np.iinfo(np.int64)
    start = 0 if by is COUNTED else limits.max if by is EARLIEST else limits.min
    made = np.full(groups.count, start, np.int64)
    by.at(made, groups.ids, values)
    return made


def together(first: PartialResults, second: PartialResults) -> PartialResults:
    """Return the rows of both."""
    if not first.rows():
        return second
    return PartialResults(
        [pa.concat_arrays([a, b]) for a, b in zip(first.keys, second.keys, strict=True)],
        [np.concatenate([a, b]) for a, b in zip(first.bounds, second.bounds, strict=True)],
        np.concatenate([first.marks, second.marks]),
        [pa.concat_arrays([a, b]) for a, b in zip(first.partials, second.partials, strict=True)],
    )


def is_partial(rows: pa.Table) -> bool:
    """Return whether a table has partial results and not rows."""
    return bool(rows.column_names[0].startswith(PARTIAL))
