"""Compute the results of a GROUP BY without a window.

They come from partial results where that is possible, else from kept rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall, Columns, Types
from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.grouping.kept_rows import KeptRows, TouchedGroups
from sqlext_udfs.grouping.retractable import Retractable, retractable
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.groups import Bools, Groups, Ints
from sqlext_udfs.kernel.zset import joined
from sqlext_udfs.windows.specification import WindowSpecification


class _Partials(Protocol):
    """Partial results of several aggregates, side by side."""

    @property
    def partial_types(self) -> Types:
        """The types of their columns."""

    def start(self, rows: pa.Table, counts: Ints, groups: Groups, first: int) -> list[pa.Array]:
        """Return those of each group of rows; ``first``: the place of the first row in the order of arrival."""

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        """Return those of each group of partial results."""

    def finish(self, partials: Columns) -> list[list[pa.Array]]:
        """Return the results of each aggregate."""


class GroupResults:
    """Computes the results of groups.

    Args:
        specification: what is computed.
        types: of the columns that go in.
    """

    def __init__(self, specification: WindowSpecification, types: Sequence[pa.DataType]) -> None:
        self._key_types = [types[i] for i in range(specification.keys)]
        aggregates = specification.aggregates
        ways = [None if specification.kind is None else retractable(a, types) for a in aggregates]
        self._by_rows = [i for i, way in enumerate(ways) if way is None and specification.kind is not None]
        self._by_parts = [i for i in range(len(aggregates)) if i not in self._by_rows]
        partly = [aggregates[i] for i in self._by_parts]
        found = [way for way in ways if way is not None]
        self._partials: _Partials = _Coming(partly, types) if specification.kind is None else _Weighted(partly, found)
        others = [aggregates[i] for i in self._by_rows]
        self._rows = KeptRows(specification.keys, others, types) if others else None
        self._others = [Aggregation([a], types).output_types for a in others]
        self._types = [Aggregation([a], types).output_types for a in aggregates]
        self.partial_types = self._partials.partial_types

    def merged(self, was: Columns, rows: pa.Table, counts: Ints, touched: TouchedGroups, first: int) -> list[pa.Array]:
        """Return the partial results of the touched groups.

        Args:
            was: those of the groups that are known.
            rows, counts: what comes, and how often.
            touched: the groups of the rows.
            first: how many rows came before.
        """
        started = self._partials.start(rows, counts, touched.groups, first)
        old = np.flatnonzero(touched.known)
        if not len(old) or not started:
            return started
        # Held results stand first, so that ordered aggregates see them before what came later.
        groups = Groups(np.concatenate([old, np.arange(touched.count)]), touched.count)
        return self._partials.merge(joined(was, started), groups)

    def finished(
        self, held: pa.Table, partials: Columns, rows: pa.Table, counts: Ints, touched: TouchedGroups, there: Bools
    ) -> tuple[pa.Table, list[pa.Array]]:
        """Return the rows that are kept, and the results of the touched groups."""
        of = dict(zip(self._by_parts, self._partials.finish(partials), strict=True))
        if self._rows is not None:
            held, others = self._rows.step(held, rows, counts, touched, there)
            for i, types in zip(self._by_rows, self._others, strict=True):
                of[i], others = others[: len(types)], others[len(types) :]
        return held, [column for i in sorted(of) for column in of[i]]

    def rows_of(self, held: pa.Table, keys: Sequence[pa.Array]) -> pa.Table:
        """Return the kept rows of some groups."""
        return held if self._rows is None else self._rows.of_groups(held, keys)

    def nothing(self, nothing: Ints) -> tuple[list[pa.Array], Ints, Ints, list[pa.Array], list[pa.Array]]:
        """Return no groups: keys, counts, times, partial results, results."""
        results = [t for types in self._types for t in types]
        keys, partials, made = ([pa.nulls(0, t) for t in of] for of in (self._key_types, self.partial_types, results))
        return keys, nothing, nothing, partials, made


class _Coming:
    """Partial results of rows that only come: those of any accumulator."""

    def __init__(self, aggregates: Sequence[AggregateCall], types: Sequence[pa.DataType]) -> None:
        self._aggregation = Aggregation(aggregates, types)
        self._widths = [len(Aggregation([a], types).output_types) for a in aggregates]
        self.partial_types = self._aggregation.partial_types

    def start(self, rows: pa.Table, counts: Ints, groups: Groups, first: int) -> list[pa.Array]:
        return self._aggregation.start(rows, groups, first + np.arange(rows.num_rows))

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        return self._aggregation.merge(partials, groups)

    def finish(self, partials: Columns) -> list[list[pa.Array]]:
        columns = self._aggregation.finish(partials)
        ends = np.cumsum(self._widths)
        return [columns[end - width : end] for end, width in zip(ends, self._widths, strict=True)]


class _Weighted:
    """Partial results of rows that come and go: counts and sums of weighted rows."""

    def __init__(self, aggregates: Sequence[AggregateCall], ways: Sequence[Retractable]) -> None:
        self._each = list(zip([a.inputs for a in aggregates], ways, strict=True))
        self.partial_types: Types = tuple(t for _, way in self._each for t in way.partial_types)

    def start(self, rows: pa.Table, counts: Ints, groups: Groups, first: int) -> list[pa.Array]:
        made: list[pa.Array] = []
        for inputs, way in self._each:
            made += way.start([whole(rows.column(i)) for i in inputs], counts, groups)
        return made

    def merge(self, partials: Columns, groups: Groups) -> list[pa.Array]:
        return [column for way, own in self._split(partials) for column in way.merge(own, groups)]

    def finish(self, partials: Columns) -> list[list[pa.Array]]:
        return [[way.finish(own)] for way, own in self._split(partials)]

    def _split(self, partials: Columns) -> list[tuple[Retractable, Columns]]:
        found, place = [], 0
        for _, way in self._each:
            end = place + len(way.partial_types)
            found.append((way, partials[place:end]))
            place = end
        return found
