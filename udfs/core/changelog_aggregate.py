"""GROUP BY of rows that change: what is taken back leaves its group, and a group's result takes back the one before.

The different rows of each group are kept with their counts, so any aggregate can be computed anew; only the groups
that a micro-batch touches are. What came out last is kept too: an equal result does not come out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sqlext.udfs.core.aggregation import Aggregation
from sqlext.udfs.core.arrow_numpy import taken
from sqlext.udfs.core.bucket_state import table_of
from sqlext.udfs.core.groups import Bools, Groups, Ints, numbered
from sqlext.udfs.core.moment import MAX, MIN
from sqlext.udfs.core.operators import Clock, Step, Wakeup
from sqlext.udfs.core.pane_table import PaneTable
from sqlext.udfs.core.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext.udfs.core.two_tables import decode, encode
from sqlext.udfs.core.window_specification import WindowSpecification, output_types
from sqlext.udfs.core.zset import columns_of, counts_of, joined, net_of, netted


@dataclass(frozen=True, slots=True)
class Groupings:
    """A bucket's state.

    Attributes:
        rows: keys, inputs of aggregates, and of how many rows: each different row once.
        written: keys and results: what came out last of each group that there is.
    """

    rows: pa.Table = field(default_factory=lambda: pa.table({}))
    written: pa.Table = field(default_factory=lambda: pa.table({}))


class ChangelogAggregate:
    """A bucket operator. What comes out has the columns of a window operator's (``window_specification``)."""

    def __init__(self, specification: WindowSpecification, types: Sequence[pa.DataType]) -> None:
        assert specification.kind is not None
        self._keys = specification.keys
        self._kind = specification.kind
        inputs = {i for a in specification.aggregates for i in a.inputs if i >= self._keys}
        self._places = (*range(self._keys), *sorted(inputs))
        self._aggregation = Aggregation(specification.aggregates, types)
        self._types = list(types)
        self._out = PaneTable(output_types(specification, types), self._keys)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the net of the rows; the column of kinds becomes one of counts."""
        return netted(rows, self._kind)

    def empty(self) -> Groupings:
        """Return no groups."""
        return Groupings()

    def step(self, state: Groupings, rows: pa.Table | None, clock: Clock) -> Step[Groupings]:
        """Add rows to their groups, or take them away."""
        open_groups = state.written.num_rows
        if rows is None or not rows.num_rows:
            return Step(state, self._out.none(), open_groups=open_groups)
        held, counts = self._held(state, rows)
        live, number = net_of(numbered(held, (), len(counts)), counts)
        before = state.rows.num_rows
        keys = self._numbered(held[: self._keys], len(counts), state.written)
        touched = np.zeros(keys.count, np.bool_)
        touched[keys.ids[before : len(counts)]] = True
        live, number = live[number > 0], number[number > 0]
        kept = [*(taken(c, live) for c in held), pa.array(number)]
        made = self._results(held, live, number, keys, touched)
        written, out = self._changes(state.written, made, keys.ids[len(counts) :], touched)
        after = Groupings(table_of(kept), written)
        return Step(after, out, open_groups=written.num_rows)

    def next_wakeup(self, state: Groupings) -> Wakeup:
        """Return never: nothing happens without rows."""
        return Wakeup()

    def encode(self, state: Groupings) -> bytes:
        """Return a state as bytes."""
        return encode(state.rows, state.written)

    def decode(self, data: bytes) -> Groupings:
        """Return the state that ``encode`` wrote."""
        return Groupings(*decode(data))

    def _held(self, state: Groupings, rows: pa.Table) -> tuple[list[pa.Array], Ints]:
        """Return the rows that were held and those that come, with their counts."""
        new, counts = columns_of(rows, self._places), counts_of(rows.column(self._kind))
        if not state.rows.num_rows:
            return new, counts
        *columns, number = (c.combine_chunks() for c in state.rows.columns)
        return joined(columns, new), np.concatenate([np.asarray(number), counts])

    def _numbered(self, columns: list[pa.Array], rows: int, written: pa.Table) -> Groups:
        """Return the groups of rows, and behind them those of what was written."""
        others = [c.combine_chunks() for c in written.columns[: self._keys]]
        return numbered(joined(columns, others) if written.num_rows else columns, (), rows + written.num_rows)

    def _results(
        self, held: list[pa.Array], live: Ints, number: Ints, keys: Groups, touched: Bools
    ) -> tuple[Ints, list[pa.Array]]:
        """Return the touched groups that have rows, and their keys and results."""
        of = keys.ids[live]
        mine = touched[of]
        places = np.repeat(live[mine], number[mine])
        groups, first = _renumbered(keys.ids[places])
        table = self._as_input(held, places)
        made = self._aggregation.finish(self._aggregation.start(table, groups, np.arange(len(places))))
        columns = [taken(c, places[first]) for c in held[: self._keys]]
        return keys.ids[places[first]], [*columns, *made]

    def _as_input(self, held: list[pa.Array], places: Ints) -> pa.Table:
        """Return rows with each column in its place; of those that nobody looks at NULLs."""
        known = {place: taken(held[i], places) for i, place in enumerate(self._places)}
        columns = [known.get(i, pa.nulls(len(places), of)) for i, of in enumerate(self._types)]
        return table_of(columns)

    def _changes(
        self, before: pa.Table, made: tuple[Ints, list[pa.Array]], of: Ints, touched: Bools
    ) -> tuple[pa.Table, pa.Table]:
        """Return what is written after the step, and the rows that say what changes."""
        group, columns = made
        if not before.num_rows:
            return table_of(columns), self._rows(columns, np.full(len(group), INSERT))
        old = [c.combine_chunks() for c in before.columns]
        new_place = np.full(len(touched), -1)
        new_place[group] = np.arange(len(group))
        old_place = np.full(len(touched), -1)
        old_place[of] = np.arange(len(of))
        both = np.flatnonzero(touched & (new_place >= 0) & (old_place >= 0))
        same = _equal(old, columns, old_place[both], new_place[both])
        changed = both[~same]
        gone = np.flatnonzero(touched & (new_place < 0) & (old_place >= 0))
        begun = np.flatnonzero(touched & (new_place >= 0) & (old_place < 0))
        back = np.concatenate([old_place[gone], old_place[changed]])
        on = np.concatenate([new_place[changed], new_place[begun]])
        kinds = np.repeat(
            [DELETE, UPDATE_BEFORE, UPDATE_AFTER, INSERT], [len(gone), len(changed), len(changed), len(begun)]
        )
        taken_back, added = ([taken(c, p) for c in of_] for of_, p in ((old, back), (columns, on)))
        left = np.ones(before.num_rows, np.bool_)
        left[back] = False
        written = joined([c.filter(pa.array(left)) for c in old], added)
        return table_of(written), self._rows(joined(taken_back, added), kinds)

    def _rows(self, columns: list[pa.Array], kinds: Ints) -> pa.Table:
        rows = len(kinds)
        panes = [
            pa.repeat(pa.scalar(0, pa.int32()), rows),
            pa.repeat(pa.scalar(0, pa.int32()), rows),
            pa.repeat(pa.scalar("EARLY", pa.string()), rows),
            pa.repeat(pa.scalar(False, pa.bool_()), rows),
            pa.repeat(pa.scalar(False, pa.bool_()), rows),
            pa.nulls(rows, pa.int64()),
        ]
        keys, results = columns[: self._keys], columns[self._keys :]
        return self._out.rows(keys, np.full(rows, MIN), np.full(rows, MAX), [*results, *panes], kinds)


def _renumbered(ids: Ints) -> tuple[Groups, Ints]:
    """Return groups without gaps, and the place of the first row of each."""
    used, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    return Groups(inverse.astype(np.int64), len(used)), first


def _equal(old: list[pa.Array], new: list[pa.Array], old_places: Ints, new_places: Ints) -> Bools:
    """Return which pairs of rows are equal."""
    rows = len(old_places)
    pairs = joined([taken(c, old_places) for c in old], [taken(c, new_places) for c in new])
    groups = numbered(pairs, (), 2 * rows)
    return np.equal(groups.ids[:rows], groups.ids[rows:])
