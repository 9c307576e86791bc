"""Number the rows of many keys, and choose those in range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import table_of, taken
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, numbered
from sqlext_udfs.kernel.order import ordered, ranks
from sqlext_udfs.ranking.specification import Ranking, RankSpecification, SortKey


@dataclass(frozen=True, slots=True)
class InRange:
    """Rows in range: their keys, what comes out of them, their numbers.

    Attributes:
        ranked: the numbers of all rows that were ranked; None where all of them are in range.
    """

    keys: list[pa.Array]
    columns: list[pa.Array]
    numbers: Ints
    ranked: Ints | None = None


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows in the order of their keys and of ORDER BY.

    Attributes:
        places: of the rows.
        start: for each, by its place in this order, where its key begins.
        new: whether it differs in ORDER BY from the one before it.
    """

    places: Ints
    start: Ints
    new: Bools

    @property
    def last(self) -> Ints:
        """For each row the last one that is equal to it in ORDER BY."""
        ends = np.append(np.flatnonzero(self.new)[1:], len(self.new)) - 1
        return np.asarray(ends[np.cumsum(self.new) - 1], np.int64)


class RankRows:
    """Ranks rows of the columns that an operator keeps.

    Args:
        specification: which rows are wanted.
        types: of the columns that go in.
        others: the places of other columns that are kept.
    """

    def __init__(
        self, specification: RankSpecification, types: Sequence[pa.DataType], others: Sequence[int] = ()
    ) -> None:
        self.spec = specification
        looked_at = {*range(specification.keys), *specification.out, *(o.place for o in specification.order), *others}
        if specification.time is not None:
            looked_at.add(specification.time)
        # Sorted, keys first: the order of the columns is a fact of the state.
        self.kept = tuple(sorted(looked_at))
        self._place = {p: i for i, p in enumerate(self.kept)}
        self.output_types: tuple[pa.DataType, ...] = (*(types[p] for p in specification.out), pa.int64(), pa.int8())

    def column(self, columns: Sequence[pa.Array], place: int | None) -> pa.Array:
        """Return a kept column by its position in the input."""
        assert place is not None
        return columns[self._place[place]]

    def keys(self, columns: Sequence[pa.Array], rows: int) -> Groups:
        """Return the groups of rows of equal keys."""
        return numbered(columns[: self.spec.keys], (), rows)

    def sorted(self, columns: Sequence[pa.Array], keys: Groups) -> Sorted:
        """Return the order of the rows."""
        spec = self.spec
        by = [self.column(columns, o.place) for o in spec.order]
        return in_order(keys, by, spec.order, latest_first=spec.latest_first)

    def numbers(self, columns: Sequence[pa.Array], keys: Groups) -> Ints:
        """Return the number of each row inside its key."""
        spec = self.spec
        by = [self.column(columns, o.place) for o in spec.order]
        return row_numbers(keys, by, spec.order, spec.ranking, latest_first=spec.latest_first)

    def in_range(self, columns: Sequence[pa.Array], places: Ints) -> InRange:
        """Return which rows are in range.

        Args:
            columns: the kept columns of all rows.
            places: the rows to rank, all those of their keys; a place stands here once for each copy of its row.
        """
        chosen = [taken(c, places) for c in columns]
        numbers = self.numbers(chosen, self.keys(chosen, len(places)))
        hit = np.flatnonzero((numbers >= self.spec.first) & (numbers <= self.spec.last))
        keys = [taken(c, hit) for c in chosen[: self.spec.keys]]
        return InRange(keys, [taken(self.column(chosen, p), hit) for p in self.spec.out], numbers[hit], numbers)

    def out(self, columns: Sequence[pa.Array], numbers: Ints, kinds: Ints) -> pa.Table:
        """Return rows that come out.

        Args:
            columns: those of ``out``; none for no rows.
            numbers: their numbers.
            kinds: what they do.
        """
        made = columns or [pa.nulls(len(numbers), of) for of in self.output_types[:-2]]
        shown = pa.array(numbers) if self.spec.numbered else pa.nulls(len(numbers), pa.int64())
        return table_of([*made, shown, pa.array(kinds.astype(np.int8))])

    def nothing(self) -> pa.Table:
        """Return no rows."""
        none = np.zeros(0, np.int64)
        return self.out([], none, none)


def row_numbers(
    keys: Groups, columns: Sequence[pa.Array], order: Sequence[SortKey], ranking: Ranking, *, latest_first: bool
) -> Ints:
    """Return each row's ROW_NUMBER, RANK or DENSE_RANK inside its key, from 1 on.

    Args:
        keys: of the rows, which stand in the order in which they came.
        columns: those that ``order`` names, one for each of its items.
        order: how to sort.
        ranking: how to number.
        latest_first: whether of equal rows the last one that came comes first.
    """
    rows = in_order(keys, columns, order, latest_first=latest_first)
    here = np.arange(len(rows.places))
    made: Ints
    if ranking is Ranking.ROW_NUMBER:
        made = here - rows.start + 1
    elif ranking is Ranking.RANK:
        firsts: Ints = np.asarray(np.maximum.accumulate(np.where(rows.new, here, 0)), np.int64)
        made = firsts - rows.start + 1
    else:
        dense = np.asarray(np.cumsum(rows.new), np.int64)
        made = np.asarray(dense - dense[rows.start] + 1, np.int64)
    numbers = np.empty(len(here), np.int64)
    numbers[rows.places] = made
    return numbers


def in_order(keys: Groups, columns: Sequence[pa.Array], order: Sequence[SortKey], *, latest_first: bool) -> Sorted:
    """Return rows by key, by ORDER BY, and by arrival; the arguments are those of ``row_numbers``."""
    count = len(keys.ids)
    sorts = [_sortable(c, item) for c, item in zip(columns, order, strict=True)]
    arrival = np.arange(count)
    places = ordered([keys.ids, *sorts], last_first=latest_first)
    of = keys.ids[places]
    new = np.ones(count, np.bool_)
    new[1:] = of[1:] != of[:-1]
    start = np.maximum.accumulate(np.where(new, arrival, 0))
    for column in sorts:
        new[1:] |= column[places[1:]] != column[places[:-1]]
    return Sorted(places, start, new)


def _sortable(column: pa.Array, item: SortKey) -> Ints:
    """Return numbers that sort as an item of ORDER BY does."""
    made = ranks(column)
    if item.descending:
        made = -made
    if column.null_count:
        # Beyond every rank on either side: ranks are at most the number of rows.
        far = len(made) + 1
        made = np.where(np.asarray(column.is_null()), -far if item.nulls_first else far, made)
    return made
