"""Compute GROUP BY without a window, as a changelog: a group's result takes back the one before.

Of rows that only come, any aggregate goes on from what it has. Of rows that may be taken back, counts and sums do too
(``retractable``); for other aggregates the different rows of each group are kept (``kept_rows``). The last result of a
group is kept as well: an equal result does not come out again.

With a time to live a group without new rows for so long (ms of the batch clock) is forgotten. Its result stays out, and
its next row begins it anew. Flink: ``GroupAggFunction`` with ``table.exec.state.ttl``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.grouping.kept_rows import TouchedGroups
from sqlext_udfs.grouping.results import GroupResults
from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.dividing import Wanted, rows_of_keys, tables_together
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, numbered
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext_udfs.kernel.table_codec import decode_state, encode_state, nested, unnested
from sqlext_udfs.kernel.zset import columns_of, counts_of, joined, netted
from sqlext_udfs.windows.panes.table import PaneTable
from sqlext_udfs.windows.specification import WindowSpecification, output_types
from sqlext_udfs.windows.triggers.moment import MAX, MIN

_FACTS = b"sqlext.groups"


@dataclass(frozen=True, slots=True)
class Groupings:
    """The groups of a bucket.

    Attributes:
        groups: a row for each group: keys, how many rows it has, when one last came (ms), partial results, results.
        rows: for aggregates that need rows: keys, inputs, and how many equal rows each stands for.
        arrived: how many rows have come.
    """

    groups: pa.Table = field(default_factory=lambda: pa.table({}))
    rows: pa.Table = field(default_factory=lambda: pa.table({}))
    arrived: int = 0


@dataclass(frozen=True, slots=True)
class _Groups:
    """The columns of ``Groupings.groups``."""

    keys: list[pa.Array]
    count: Ints
    time: Ints
    partials: list[pa.Array]
    results: list[pa.Array]

    def at(self, places: Ints) -> _Groups:
        """Return the groups at some places."""
        keys, partials, results = ([taken(c, places) for c in of] for of in (self.keys, self.partials, self.results))
        return _Groups(keys, self.count[places], self.time[places], partials, results)

    def with_(self, more: _Groups) -> _Groups:
        """Return these groups and others."""
        if not len(self.count):
            return more
        lists = ((self.keys, more.keys), (self.partials, more.partials), (self.results, more.results))
        keys, partials, results = (joined(a, b) for a, b in lists)
        count, time = np.concatenate([self.count, more.count]), np.concatenate([self.time, more.time])
        return _Groups(keys, count, time, partials, results)

    def table(self) -> pa.Table:
        """Return them as a table."""
        return table_of([*self.keys, pa.array(self.count), pa.array(self.time), *self.partials, *self.results])


class GroupAggregate(BucketOperator[Groupings]):
    """Group without windows. The columns that come out are those of a window operator (``windows.specification``).

    Args:
        specification: what is computed; ``kind`` is None where rows only come, ``ttl`` where groups stay for ever.
        types: of the columns that go in.
    """

    def __init__(self, specification: WindowSpecification, types: Sequence[pa.DataType]) -> None:
        self._keys = specification.keys
        self._kind = specification.kind
        self._ttl = specification.ttl
        self._results = GroupResults(specification, types)
        self._out = PaneTable(output_types(specification, types), self._keys)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the net of the rows; the column of kinds becomes one of counts."""
        return rows if self._kind is None else netted(rows, self._kind)

    def empty(self) -> Groupings:
        """Return no groups."""
        return Groupings()

    def step(self, state: Groupings, rows: pa.Table | None, clock: Clock) -> StepResult[Groupings]:
        """Add rows to their groups, or take them away."""
        now = self._now(clock)
        state = self._alive(state, now)
        if rows is None or not rows.num_rows:
            return StepResult(state, self._out.none(), open_groups=state.groups.num_rows)
        held = self._read(state.groups)
        counts = np.ones(rows.num_rows, np.int64) if self._kind is None else counts_of(rows.column(self._kind))
        new_keys = columns_of(rows, range(self._keys))
        touched = self._touched(held, new_keys, len(counts))
        was = held.at(touched.old[touched.known])
        count = np.bincount(touched.of_new, counts, touched.count).astype(np.int64)
        count[touched.known] += was.count
        # A count below 0 is a group of which more was taken back than is known, as after a time to live.
        there = count > 0
        partials = self._results.merged(was.partials, rows, counts, touched, state.arrived)
        kept, results = self._results.finished(state.rows, partials, rows, counts, touched, there)
        places = touched.groups.first()
        # Groups that have gone are in ``made`` too: ``_changes`` needs the pairs, and the state leaves them out.
        made = _Groups([taken(c, places) for c in new_keys], count, np.full(len(count), now), partials, results)
        out = self._changes(was, made, touched.known, there)
        left = np.ones(len(held.count), np.bool_)
        left[touched.old[touched.known]] = False
        after = held.at(np.flatnonzero(left)).with_(made.at(np.flatnonzero(there)))
        return StepResult(
            Groupings(after.table(), kept, state.arrived + len(counts)), out, open_groups=len(after.count)
        )

    def without(self, state: Groupings, gone: Bools) -> Groupings:
        """Return the groups but some of them; ``gone`` has an entry for each row of ``state.groups``."""
        left = self._read(state.groups).at(np.flatnonzero(~gone))
        return Groupings(left.table(), self._results.rows_of(state.rows, left.keys), state.arrived)

    def keys_of(self, state: Groupings) -> list[pa.Array]:
        """Return the keys of the groups."""
        return self._read(state.groups).keys

    def results_of(self, state: Groupings, of: Bools) -> list[pa.Array]:
        """Return the results of some groups."""
        return self._read(state.groups).at(np.flatnonzero(of)).results

    def next_wakeup(self, state: Groupings) -> Wakeup:
        """Return when the first group is forgotten."""
        if self._ttl is None or not state.groups.num_rows:
            return Wakeup()
        return Wakeup(processing=int(self._read(state.groups).time.min()) + self._ttl)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: Groupings) -> int:
        """Return how many groups there are."""
        return int(state.groups.num_rows)

    def encode(self, state: Groupings) -> bytes:
        """Return a state as bytes."""
        facts = {_FACTS: json.dumps({"arrived": state.arrived})}
        return encode_state(nested([state.groups.replace_schema_metadata(facts), state.rows]))

    def decode(self, data: bytes) -> Groupings:
        """Return the state that ``encode`` wrote.

        Raises:
            SqlExtError: RUN-033 if it is of another operator.
        """
        groups, rows = unnested(decode_state(data))
        if _FACTS not in (groups.schema.metadata or {}):
            message = "the state of GROUP BY was written by an older version of sqlext"
            raise SqlExtError("RUN-033", message, hint="DROP QUERY starts the query anew")
        facts = json.loads(groups.schema.metadata[_FACTS])
        return Groupings(groups.replace_schema_metadata(None), rows, facts["arrived"])

    def of_keys(self, state: Groupings, wanted: Wanted) -> Groupings:
        """Return some groups."""
        groups, rows = (rows_of_keys(table, range(self._keys), wanted) for table in (state.groups, state.rows))
        return Groupings(groups, rows, state.arrived)

    def together(self, states: Sequence[Groupings]) -> Groupings:
        """Return all groups."""
        groups, rows = (tables_together(getattr(s, name) for s in states) for name in ("groups", "rows"))
        return Groupings(groups, rows, max(s.arrived for s in states))

    def _now(self, clock: Clock) -> int:
        """Return the time (ms) with which rows are written; 0 without a time to live, as nobody reads it."""
        if self._ttl is None:
            return 0
        assert clock.now is not None, "groups with a time to live need the batch clock"
        return clock.now

    def _alive(self, state: Groupings, now: int) -> Groupings:
        """Return the groups that are not forgotten yet."""
        if self._ttl is None or not state.groups.num_rows:
            return state
        held = self._read(state.groups)
        lives = held.time > now - self._ttl
        if lives.all():
            return state
        groups = held.at(np.flatnonzero(lives))
        return Groupings(groups.table(), self._results.rows_of(state.rows, groups.keys), state.arrived)

    def _read(self, groups: pa.Table) -> _Groups:
        if not groups.num_columns:
            nothing = np.zeros(0, np.int64)
            return _Groups(*self._results.nothing(nothing))
        columns = [whole(c) for c in groups.columns]
        keys, (count, time, *rest) = columns[: self._keys], columns[self._keys :]
        split = len(self._results.partial_types)
        return _Groups(keys, integers(count), integers(time), rest[:split], rest[split:])

    def _touched(self, held: _Groups, new: list[pa.Array], rows: int) -> TouchedGroups:
        """Return the groups to which rows come."""
        before = len(held.count)
        ids = numbered(joined(held.keys, new) if before else new, (), before + rows).ids
        # Numbered anew, so that work and arrays grow with the groups touched and not with all that are held.
        used, of_new = np.unique(ids[before:], return_inverse=True)
        place = np.full(int(ids.max()) + 1, -1, np.int64)
        place[ids[:before]] = np.arange(before)
        return TouchedGroups(Groups(of_new.astype(np.int64), len(used)), place[used])

    def _changes(self, was: _Groups, made: _Groups, known: Bools, there: Bools) -> pa.Table:
        """Return the rows that say what changes.

        Args:
            was: the touched groups that there were.
            made: all touched groups, as they are now.
            known: which of these there were.
            there: which of these there are.
        """
        old = np.full(len(there), -1)
        old[known] = np.arange(len(was.count))
        both = np.flatnonzero(known & there)
        changed = both[~_equal(was.results, made.results, old[both], both)]
        gone, begun = np.flatnonzero(known & ~there), np.flatnonzero(there & ~known)
        back, on = np.concatenate([old[gone], old[changed]]), np.concatenate([changed, begun])
        # What is taken back stands before what comes, so that a key never has two rows.
        parts = len(gone), len(changed), len(changed), len(begun)
        kinds = np.repeat([DELETE, UPDATE_BEFORE, UPDATE_AFTER, INSERT], parts)
        sides = (([*g.keys, *g.results], places) for g, places in ((was, back), (made, on)))
        taken_back, added = ([taken(c, places) for c in columns] for columns, places in sides)
        return self._rows(joined(taken_back, added), kinds)

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
        # The columns are those of a window operator, so that one rewrite serves both: one pane, EARLY, never last.
        return self._out.rows(keys, np.full(rows, MIN), np.full(rows, MAX), [*results, *panes], kinds)


def _equal(old: list[pa.Array], new: list[pa.Array], old_places: Ints, new_places: Ints) -> Bools:
    """Return which pairs of rows are equal."""
    rows = len(old_places)
    pairs = joined([taken(c, old_places) for c in old], [taken(c, new_places) for c in new])
    groups = numbered(pairs, (), 2 * rows)
    return np.equal(groups.ids[:rows], groups.ids[rows:])
