"""Rank rows at once: later rows take back what they push out of range.

Of input that only inserts, rows behind the last number can never come back, so they are forgotten. A changelog can
take rows back, so all of its rows are kept, equal ones as one row with their count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.groups import Bools, Ints, numbered
from sqlext_udfs.kernel.lives import Lives
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext_udfs.kernel.table_codec import TableState
from sqlext_udfs.kernel.zset import columns_of, counts_of, joined, net_of, netted
from sqlext_udfs.ranking.rows import InRange, RankRows
from sqlext_udfs.ranking.specification import RankSpecification

#: How many rows are sorted at once: few enough for their columns to stay in the processor's caches.
_PIECE = 1 << 17


class RankOperator(TableState, BucketOperator[pa.Table]):
    """Rank rows and give the changes of the rows in range.

    The state is the kept columns, how many equal rows there are, and, with a time to live, when the key was written (ms
    of the batch clock). The columns ``out`` come out, the number (BIGINT, NULL if it is not asked for), and the row
    kind.

    Args:
        specification: which rows are wanted.
        types: of the columns that go in.
        rows: what chooses the rows that come out, by default those in range.
    """

    def __init__(
        self, specification: RankSpecification, types: Sequence[pa.DataType], rows: RankRows | None = None
    ) -> None:
        self._spec = specification
        self._rows = rows or RankRows(specification, types)
        self._lives = Lives(specification.ttl)
        self.output_types = self._rows.output_types

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the rows that can come into range among these: the net of a changelog, else the first ones."""
        if self._spec.kind is not None:
            return netted(rows, self._spec.kind)
        made = self._first(rows.slice(0, _PIECE))
        if rows.num_rows <= _PIECE:
            return made
        # Of many keys nearly all rows are first ones: a piece alone says little.
        if made.num_rows > _PIECE // 2:
            return self._first(rows)
        others = (self._first(rows.slice(start, _PIECE)) for start in range(_PIECE, rows.num_rows, _PIECE))
        return self._first(pa.concat_tables([made, *others]))

    def _first(self, rows: pa.Table) -> pa.Table:
        """Return the rows of a table without changes that are in range, or before it."""
        columns = columns_of(rows, self._rows.kept)
        numbers = self._rows.numbers(columns, self._rows.keys(columns, rows.num_rows))
        return rows.filter(pa.array(numbers <= self._spec.last))

    def empty(self) -> pa.Table:
        """Return no rows."""
        return pa.table({})

    def step(self, state: pa.Table, rows: pa.Table | None, clock: Clock) -> StepResult[pa.Table]:
        """Rank the rows of the keys to which rows come."""
        state = self._lives.alive(state, clock)
        if rows is None or not rows.num_rows:
            return StepResult(state, self._rows.nothing(), open_groups=state.num_rows)
        state, written = self._lives.split(state)
        held, count = self._held(state, rows)
        before = state.num_rows
        keys = self._rows.keys(held, len(count))
        # Only keys to which rows come can change; all others keep their rows unranked.
        touched = np.zeros(keys.count, np.bool_)
        touched[keys.ids[before:]] = True
        mine = touched[keys.ids]
        live, left = self._left(held, count)
        # Both rankings are of the touched keys alone; their difference is what comes out.
        was, now = (
            self._rows.in_range(held, _copies(p, c))
            for p, c in (_of(mine, np.arange(before), count[:before]), _of(mine, live, left))
        )
        kept = self._reachable(live, mine, now)
        table = table_of([*(taken(c, live[kept]) for c in held), pa.array(left[kept])])
        if self._lives.ttl is not None:
            new = live[kept][live[kept] >= before] if self._spec.kind is None else np.flatnonzero(mine)
            table = self._lives.joined(table, written, live[kept], np.isin(keys.ids, keys.ids[new]), clock)
        return StepResult(table, self._changes(was, now), open_groups=table.num_rows)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: pa.Table) -> int:
        """Return how many rows are kept."""
        return int(state.num_rows)

    def key_places(self, state: pa.Table) -> Sequence[int]:
        """Return where the columns stand that choose the bucket."""
        return range(self._spec.keys)

    def next_wakeup(self, state: pa.Table) -> Wakeup:
        """Return when the first key is forgotten."""
        return Wakeup(processing=self._lives.first_end(state))

    def _held(self, state: pa.Table, rows: pa.Table) -> tuple[list[pa.Array], Ints]:
        """Return the kept columns and the counts of the rows that were held and, behind them, of those that come."""
        kind = self._spec.kind
        new = columns_of(rows, self._rows.kept)
        more = counts_of(rows.column(kind)) if kind is not None else np.ones(rows.num_rows, np.int64)
        if not state.num_rows:
            return new, more
        *columns, count = (whole(c) for c in state.columns)
        return joined(columns, new), np.concatenate([integers(count), more])

    def _left(self, held: list[pa.Array], count: Ints) -> tuple[Ints, Ints]:
        """Return the places of the rows that there are now, in the order in which they came, and their counts."""
        if self._spec.kind is None:
            return np.arange(len(count)), count
        places, net = net_of(numbered(held, (), len(count)), count)
        return places[net > 0], net[net > 0]

    def _reachable(self, live: Ints, mine: Bools, now: InRange) -> Bools:
        """Return which rows can be in range now or later; ``now`` has the numbers of those of the touched keys."""
        kept = np.ones(len(live), np.bool_)
        if self._spec.kind is None and now.ranked is not None:  # of rows that only come there is one copy each
            kept[np.flatnonzero(mine[live])] = now.ranked <= self._spec.last
        return kept

    def _changes(self, was: InRange, now: InRange) -> pa.Table:
        """Return what takes the rows that were in range to those that are."""
        if not len(was.numbers):  # nothing to take back: no row need be compared with others
            return self._rows.out(now.columns, now.numbers, np.full(len(now.numbers), INSERT))
        spec, rows = self._spec, len(was.numbers) + len(now.numbers)
        numbers = np.concatenate([was.numbers, now.numbers])
        columns, keys = joined(was.columns, now.columns), joined(was.keys, now.keys)
        # Where nobody sees the number, a row that only moves inside the range cancels out.
        slot = [numbers] if spec.numbered else []
        signs = np.where(np.arange(rows) < len(was.numbers), -1, 1)
        places, net = net_of(numbered([*keys, *columns], slot, rows), signs)
        copies = np.repeat(places, np.abs(net))
        added = np.repeat(net > 0, np.abs(net))
        back, on = copies[~added], copies[added]
        kinds = np.concatenate([np.full(len(back), DELETE), np.full(len(on), INSERT)])
        # With a number, or with one row in range, each row has a slot: what leaves it and what enters it is an update.
        if spec.numbered or spec.first == spec.last:
            of = numbered(keys, slot, rows).ids
            kinds[: len(back)][np.isin(of[back], of[on])] = UPDATE_BEFORE
            kinds[len(back) :][np.isin(of[on], of[back])] = UPDATE_AFTER
        order = np.concatenate([back, on])
        return self._rows.out([taken(c, order) for c in columns], numbers[order], kinds)


def _of(mine: Bools, places: Ints, count: Ints) -> tuple[Ints, Ints]:
    hit = mine[places]
    return places[hit], count[hit]


def _copies(places: Ints, count: Ints) -> Ints:
    return np.repeat(places, count)
