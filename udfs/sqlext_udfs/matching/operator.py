"""Find patterns in the rows of a partition, in the order of time: MATCH_RECOGNIZE.

A row is looked at when the watermark has passed it; rows behind the watermark of the micro-batch before are late. The
state holds the rows that wait for the watermark, and those from the first row on that may still begin a match. The
search starts there anew, so no attempt need be kept. Matches are never taken back: the result is append-only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.kernel.dividing import Wanted, least, rows_of_keys, tables_together
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Bools, Ints, numbered
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.matching.links import PartitionRows
from sqlext_udfs.matching.output import MatchOutput, MatchRow
from sqlext_udfs.matching.rows import (
    MATCHES,
    PAST,
    MatchState,
    Partitions,
    decode,
    encode,
    partitions,
    python_values,
    with_state_columns,
)
from sqlext_udfs.matching.run import CompleteMatch
from sqlext_udfs.matching.search import Search
from sqlext_udfs.matching.specification import MatchSpecification, reach_of, values_of


class MatchOperator(BucketOperator[MatchState]):
    """Search partitions for matches.

    Each match gives one row, or one for each of its rows: the keys, measures, totals, and the row kind INSERT.

    Args:
        specification: what is looked for.
        types: of the columns that go in.
    """

    def __init__(self, specification: MatchSpecification, types: Sequence[pa.DataType]) -> None:
        self.specification = specification
        self._output = MatchOutput(specification, types)
        self._search = Search(specification)
        self._reach = reach_of(specification)
        self._looked_at = values_of(specification)

    @property
    def output_types(self) -> Sequence[pa.DataType]:
        """The types of the columns that come out; the last one is the row kind."""
        return self._output.types

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the rows: each of them may be part of a match, or end one."""
        return rows

    def empty(self) -> MatchState:
        """Return the state of a bucket that has seen nothing."""
        return MatchState()

    def step(self, state: MatchState, rows: pa.Table | None, clock: Clock) -> StepResult[MatchState]:
        """Look for matches in the rows that the watermark has passed.

        Raises:
            SqlExtError: RUN-033 if the rows have not the columns of the state; RUN-040 to RUN-043 for what conditions
                and AFTER MATCH SKIP cannot do with them.
        """
        fresh, dropped = self._in_time(rows, clock)
        now = clock.watermark if self.specification.event_time else clock.now
        ended = clock.watermark == Clock.END
        due = state.wakeup is not None and now is not None and now >= state.wakeup
        if not fresh.num_rows and not due and not (ended and state.table.num_rows):
            return StepResult(state, self._output.none(), dropped, open_groups=state.open)
        parts = partitions(_together(state.table, fresh), state.table.num_rows, self.specification)
        return self._searched(parts, state, dropped, Clock.END if ended else now)

    def next_wakeup(self, state: MatchState) -> Wakeup:
        """Return when a row is passed by the watermark, or a match can no longer end in time."""
        return Wakeup(event=state.wakeup) if self.specification.event_time else Wakeup(processing=state.wakeup)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: MatchState) -> int:
        """Return how many partitions have rows."""
        return state.open

    def encode(self, state: MatchState) -> bytes:
        """Return the rows that are kept as a state value."""
        return encode(state)

    def decode(self, data: bytes) -> MatchState:
        """Return the rows of a state value."""
        return decode(data)

    def of_keys(self, state: MatchState, wanted: Wanted) -> MatchState:
        """Return the rows of some partitions, which are looked at again when time moves."""
        keys = self.specification.keys
        table = rows_of_keys(state.table, range(keys), wanted)
        return replace(state, table=table, open=_partitions_in(table, keys))

    def together(self, states: Sequence[MatchState]) -> MatchState:
        """Return the rows of all partitions."""
        table, done = tables_together(s.table for s in states), max(s.done for s in states)
        return MatchState(table, done, least(s.wakeup for s in states), sum(s.open for s in states))

    def _in_time(self, rows: pa.Table | None, clock: Clock) -> tuple[pa.Table, int]:
        """Return the rows that are not late, and how many are. In processing time they come now."""
        if rows is None:
            return pa.table({}), 0
        rows = with_state_columns(rows)
        time = self.specification.time
        if not self.specification.event_time and time is not None and clock.now is not None:
            now = pa.array(np.full(rows.num_rows, clock.now, np.int64))
            return rows.set_column(time, rows.field(time), now), 0
        if not self.specification.event_time or clock.late_watermark is None:
            return rows, 0
        assert time is not None
        # A row at the watermark is in time: it is looked at only when the watermark is greater.
        keep = integers(rows.column(time)) >= clock.late_watermark
        return rows.filter(pa.array(keep)), int(np.count_nonzero(~keep))

    def _searched(self, parts: Partitions, state: MatchState, dropped: int, now: int | None) -> StepResult[MatchState]:
        touched = self._touched(parts, state, now)
        inside = parts.only(touched)
        keep, past, matches = np.ones(len(parts.ids), np.bool_), parts.past(), parts.matches()
        kept_inside, past[touched], matches[touched], out = self._partitions(inside, now)
        keep[touched] = kept_inside
        table = parts.table
        table = table.set_column(table.schema.get_field_index(PAST), PAST, pa.array(past))
        table = table.set_column(table.schema.get_field_index(MATCHES), MATCHES, pa.array(matches))
        after = self._state(Partitions(table, parts.ids, parts.times, parts.fresh).only(keep), state, now)
        return StepResult(after, out, dropped, open_groups=after.open)

    def _touched(self, parts: Partitions, state: MatchState, now: int | None) -> Bools:
        """Return the rows of the partitions in which something happens."""
        if now == Clock.END:
            return np.ones(len(parts.ids), np.bool_)
        # By processing time new rows make matches; by event time rows that the watermark has passed now.
        happens = parts.fresh if not self.specification.event_time else np.zeros(len(parts.ids), np.bool_)
        if parts.times is not None and now is not None:
            if self.specification.event_time:
                happens = (parts.times >= state.done) & (parts.times < now)
            if self.specification.within is not None:
                happens |= ~parts.past() & (parts.times + self.specification.within <= now)
        return np.isin(parts.ids, np.unique(parts.ids[happens]))

    def _partitions(self, parts: Partitions, now: int | None) -> tuple[Bools, Bools, Ints, pa.Table]:
        """Search each partition; return which rows stay, which are past, their matches, and what comes out."""
        columns = [whole(c) for c in parts.table.columns]
        places = self.specification.values
        values = [python_values(columns[p]) if i in self._looked_at else None for i, p in enumerate(places)]
        keep, past, matches = np.zeros(len(parts.ids), np.bool_), parts.past(), parts.matches()
        times = parts.times.tolist() if parts.times is not None and self.specification.within is not None else None
        shown: list[MatchRow] = []
        bounds = parts.bounds.tolist()
        for low, high in pairwise(bounds):
            rows = PartitionRows(values, low, self._ready(parts, low, high, now))
            start = low + int(np.count_nonzero(past[low:high]))
            found, kept_from = self._found(rows, times, start, high, now)
            # Each row that is kept carries its partition's number of matches: there is no other place for it.
            before = int(matches[low:high].max())
            for number, match in enumerate(found, before + 1):
                shown += self._output.shown(match, number, rows)
            matches[low:high] = before + len(found)
            past[low:kept_from] = True
            # Rows before the first one that may begin a match stay as far as PREV can look back at them.
            keep[max(low, kept_from - self._reach.back) : high] = now != Clock.END
        return keep, past, matches, self._output.table(shown, columns)

    def _found(
        self, rows: PartitionRows, times: Sequence[int] | None, start: int, high: int, now: int | None
    ) -> tuple[list[CompleteMatch], int]:
        """Return the matches of a partition, and the first row that may be part of a later one."""
        if now == Clock.END:
            return self._search.finish(rows, times, start, rows.high), high
        # NEXT must be able to look ahead of each row that is taken.
        end = max(start, rows.high - self._reach.ahead)
        found = self._search.run(rows, times, start, end, now)
        return found.matches, found.kept_from

    def _ready(self, parts: Partitions, low: int, high: int, now: int | None) -> int:
        """Return behind which row of a partition nothing may be looked at yet."""
        if not self.specification.event_time or now == Clock.END:
            return high
        assert parts.times is not None
        return low + int(np.searchsorted(parts.times[low:high], BEFORE_ALL if now is None else now))

    def _state(self, parts: Partitions, before: MatchState, now: int | None) -> MatchState:
        done = before.done if now is None or not self.specification.event_time else max(before.done, now)
        if not len(parts.ids):
            return MatchState(parts.table, done)
        return MatchState(parts.table, done, self._wakeup(parts, done), len(np.unique(parts.ids)))

    def _wakeup(self, parts: Partitions, done: int) -> int | None:
        if parts.times is None:
            return None
        deadlines: list[int] = []
        waiting = parts.times[parts.times >= done] if self.specification.event_time else parts.times[:0]
        if len(waiting):
            # A row is looked at when the watermark is greater than its time.
            deadlines.append(int(waiting.min()) + 1)
        begins = parts.times[~parts.past()]
        if self.specification.within is not None and len(begins):
            deadlines.append(int(begins.min()) + self.specification.within)
        return min(deadlines, default=None)


def _together(kept: pa.Table, fresh: pa.Table) -> pa.Table:
    """Return kept rows and new ones behind them.

    Raises:
        SqlExtError: RUN-033 if they have not the same columns.
    """
    if not kept.num_columns:
        return fresh
    if not fresh.num_columns:
        return kept
    if not kept.schema.equals(fresh.schema):
        raise SqlExtError(
            "RUN-033",
            f"MATCH_RECOGNIZE has kept rows of ({_types(kept)}), not of ({_types(fresh)})",
            hint="DROP QUERY starts the query anew",
        )
    return pa.concat_tables([kept, fresh])


def _types(table: pa.Table) -> str:
    return ", ".join(f"{f.name} {f.type}" for f in table.schema)


def _partitions_in(table: pa.Table, keys: int) -> int:
    """Return how many partitions have rows."""
    if not table.num_rows:
        return 0
    columns = [whole(c) for c in normalised(table.select(range(keys))).columns]
    return int(numbered(columns, (), table.num_rows).count)
