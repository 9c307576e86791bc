"""Run several aggregates side by side, with their partial results in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Accumulator, AggregateCall, Columns, Types
from sqlext_udfs.aggregates.known import accumulator
from sqlext_udfs.aggregates.names import plain_names
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.ranges import Ranges

#: Of each aggregate its name, and how many columns its partial results have.
Named = Sequence[tuple[str, int]]


class Aggregation:
    """Several accumulators as one: columns stand in the order of the calls.

    Args:
        aggregates: the calls.
        types: of the columns whose positions the calls name.
        places: whether partial results can meet that are not one after the other in the order of arrival.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """

    def __init__(
        self, aggregates: Sequence[AggregateCall], types: Sequence[pa.DataType], *, places: bool = False
    ) -> None:
        self._inputs = [a.inputs for a in aggregates]
        self._types = types
        self._names = [a.name for a in aggregates]
        self._accumulators = [accumulator(a, tuple(types[i] for i in a.inputs), places=places) for a in aggregates]
        # The order of these columns is a fact of the state.
        self.partial_types: Types = tuple(t for a in self._accumulators for t in a.partial_types)
        self.output_types: Types = tuple(t for a in self._accumulators for t in a.output_types)
        self.ordered = any(a.ordered for a in self._accumulators)
        self.takes_gaps = all(a.takes_gaps for a in self._accumulators)
        self._counting = next((i for i, a in enumerate(self._accumulators) if a.counts), None)

    @property
    def named(self) -> Named:
        """The name of each aggregate and how many columns its partial results have; nothing where one has no name."""
        if not all(self._names):
            return []
        return [(n, len(a.partial_types)) for n, a in zip(self._names, self._accumulators, strict=True)]

    @property
    def widths(self) -> list[int]:
        """How many columns the partial results of each aggregate have."""
        return [len(a.partial_types) for a in self._accumulators]

    def moved(self, before: Named, partials: Columns, count: int) -> list[pa.Array]:
        """Return partial results that were kept for other aggregates: found by name, begun where there is none.

        Args:
            before: ``named`` of the aggregates that they were kept for; empty where nobody wrote it down.
            partials: their columns.
            count: how many groups there are.
        """
        if not partials:  # there were none
            before = []
        # Without names, places count.
        elif self._names and (not before or not self.named or [name for name, _ in before] == self._names):
            return list(partials)
        found: dict[str, Columns] = {}
        place = 0
        theirs = plain_names([name for name, _ in before])
        for name, (_, width) in zip(theirs, before, strict=True):
            found[name] = partials[place : place + width]
            place += width
        return [
            column
            for name, inputs, each in zip(plain_names(self._names), self._inputs, self._accumulators, strict=True)
            for column in (found[name] if name in found else self._begun(inputs, each, count))
        ]

    def _begun(self, inputs: Sequence[int], each: Accumulator, count: int) -> list[pa.Array]:
        """Return the partial results of groups that have had no rows."""
        nothing = np.zeros(0, np.int64)
        return each.start([pa.nulls(0, self._types[i]) for i in inputs], Groups(nothing, count), nothing)

    def places(self, first: int, rows: int) -> Ints:
        """Return the places of rows in the order of arrival, from a number on; where nobody looks at them, none."""
        return np.arange(first, first + rows) if self.ordered else np.broadcast_to(np.int64(0), rows)

    def start(self, rows: pa.Table, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return the partial results of each group of rows."""
        return self._started(rows, groups, positions, {})

    def start_counting(self, rows: pa.Table, groups: Groups, positions: Ints) -> list[pa.Array]:
        """Return what ``start`` does; after that the groups have their sizes."""
        # Sizes come first: where they are known, other aggregates need no look at all rows.
        place = self._counting
        if place is None:
            groups.sizes()
            return self.start(rows, groups, positions)
        counting = self._accumulators[place].start_counting(self._of(rows, place), groups, positions)
        return self._started(rows, groups, positions, {place: counting})

    def _started(
        self, rows: pa.Table, groups: Groups, positions: Ints, made: Mapping[int, list[pa.Array]]
    ) -> list[pa.Array]:
        each = enumerate(self._accumulators)
        parts = [made[i] if i in made else a.start(self._of(rows, i), groups, positions) for i, a in each]
        return [column for part in parts for column in part]

    def _of(self, rows: pa.Table, place: int) -> list[pa.Array]:
        return [whole(rows.column(i)) for i in self._inputs[place]]

    def renumbered(self, partials: Columns, first: int) -> list[pa.Array]:
        """Return partial results that have come, with places in the order of arrival from a number on."""
        return self._each(partials, lambda each, columns: each.renumbered(columns, first))

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return the partial results of each group of partial results."""
        return self._each(partials, lambda each, columns: each.merge(columns, groups))

    def merge_ranges(self, partials: Columns, ranges: Ranges) -> list[pa.Array]:
        """Return the partial results of each range of partial results."""
        return self._each(partials, lambda each, columns: each.merge_ranges(columns, ranges))

    def finish(self, partials: Columns) -> list[pa.Array]:
        """Return the output columns."""
        return self._each(partials, lambda each, columns: each.finish(columns))

    def _each(self, partials: Columns, step: Callable[[Accumulator, Columns], list[pa.Array]]) -> list[pa.Array]:
        made: list[pa.Array] = []
        place = 0
        for each in self._accumulators:
            end = place + len(each.partial_types)
            made += step(each, partials[place:end])
            place = end
        return made
