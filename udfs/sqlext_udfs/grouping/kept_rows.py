"""Keep the rows of groups, for aggregates that cannot go on from a result when a row is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, numbered
from sqlext_udfs.kernel.zset import columns_of, joined, net_of


@dataclass(frozen=True, slots=True)
class TouchedGroups:
    """The groups to which the rows of a micro-batch come.

    Attributes:
        groups: of the rows.
        old: where each group is among those that are held; -1 for one that begins.
    """

    groups: Groups
    old: Ints

    @property
    def count(self) -> int:
        """How many groups there are."""
        return self.groups.count

    @property
    def of_new(self) -> Ints:
        """The group of each row."""
        return self.groups.ids

    @property
    def known(self) -> Bools:
        """Which groups are held."""
        known: Bools = self.old >= 0
        return known


class KeptRows:
    """Keeps each different row of a group once, with how many there are, and computes touched groups anew.

    Args:
        keys: how many of the first columns are the key.
        aggregates: what is computed.
        types: of the columns that go in.
    """

    def __init__(self, keys: int, aggregates: Sequence[AggregateCall], types: Sequence[pa.DataType]) -> None:
        self._keys = keys
        inputs = {i for a in aggregates for i in a.inputs if i >= keys}
        # Sorted: the columns of the state do not depend on the order in which aggregates are written.
        self._places = (*range(keys), *sorted(inputs))
        self._aggregation = Aggregation(aggregates, types)
        self._types = list(types)

    def step(
        self, held: pa.Table, rows: pa.Table, counts: Ints, touched: TouchedGroups, there: Bools
    ) -> tuple[pa.Table, list[pa.Array]]:
        """Return the rows that are kept, and the results of each touched group.

        Args:
            held: the rows before.
            rows: those that come.
            counts: how many of each; less than 0 are taken back.
            touched: their groups.
            there: which of these groups have rows.
        """
        columns, number = self._together(held, rows, counts)
        # Only rows of touched groups are netted; all others stay as they are.
        of = self._groups_of(columns, held.num_rows, touched)
        mine, others = np.flatnonzero(of >= 0), np.flatnonzero(of < 0)
        live, net = net_of(numbered([taken(c, mine) for c in columns], (), len(mine)), number[mine])
        live, net = mine[live[net > 0]], net[net > 0]
        # A group that has no rows left gives no result, also where taking back unknown rows has left some here.
        in_group = there[of[live]]
        live, net = live[in_group], net[in_group]
        left = np.concatenate([others, live])
        kept = table_of([*(taken(c, left) for c in columns), pa.array(np.concatenate([number[others], net]))])
        # A row that is there n times counts n times.
        places = np.repeat(live, net)
        table, groups = self._as_input(columns, places), Groups(of[places], touched.count)
        return kept, self._aggregation.finish(self._aggregation.start(table, groups, np.arange(len(places))))

    def of_groups(self, held: pa.Table, keys: Sequence[pa.Array]) -> pa.Table:
        """Return the rows of some groups."""
        if not held.num_rows:
            return held
        rows, groups = held.num_rows, len(keys[0]) if keys else 0
        columns = [whole(c) for c in held.columns[: self._keys]]
        ids = numbered(joined(columns, list(keys)), (), rows + groups).ids
        return held.filter(pa.array(np.isin(ids[:rows], ids[rows:])))

    def _together(self, held: pa.Table, rows: pa.Table, counts: Ints) -> tuple[list[pa.Array], Ints]:
        """Return the rows that were held and those that come, with their counts."""
        new = columns_of(rows, self._places)
        if not held.num_rows:
            return new, counts
        *columns, number = (whole(c) for c in held.columns)
        return joined(columns, new), np.concatenate([integers(number), counts])

    def _groups_of(self, columns: list[pa.Array], before: int, touched: TouchedGroups) -> Ints:
        """Return the touched group of each row, -1 for none."""
        rows = before + len(touched.of_new)
        keys = numbered(columns[: self._keys], (), rows)
        group = np.full(keys.count, -1, np.int64)
        group[keys.ids[before:]] = touched.of_new
        return group[keys.ids]

    def _as_input(self, columns: list[pa.Array], places: Ints) -> pa.Table:
        """Return rows with each column at its position; columns that no aggregate reads are NULL."""
        known = {place: taken(columns[i], places) for i, place in enumerate(self._places)}
        return table_of([known.get(i, pa.nulls(len(places), of)) for i, of in enumerate(self._types)])
