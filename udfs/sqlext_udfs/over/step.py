"""Compute the results of rows of OVER that come out, and what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.clock import BEFORE_ALL, Clock
from sqlext_udfs.kernel.groups import Bools, Ints, stable_order
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import FrameBounds
from sqlext_udfs.over.function import FrameReach
from sqlext_udfs.over.functions import over_function
from sqlext_udfs.over.specification import OverSpecification
from sqlext_udfs.over.state import OverState, key_numbers
from sqlext_udfs.over.timeline import Timeline, rows_behind


class Released(NamedTuple):
    """What became of rows.

    Attributes:
        state: after it.
        out: the rows that come out with their results, by time and then arrival.
        came: whether each of the rows is among them.
    """

    state: OverState
    out: pa.Table
    came: Bools


class OverStep:
    """Let rows come out with the results of a specification's functions.

    Args:
        specification: what is computed.
        types: of the columns that go in.

    Attributes:
        reach: which rows that have come out are kept.
        ahead_rows, ahead_time: how many rows, and ms, behind a row must be known before it comes out.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """

    def __init__(self, specification: OverSpecification, types: Sequence[pa.DataType]) -> None:
        self._specification = specification
        self._types = types
        self._functions = [over_function(call, types) for call in specification.calls]
        # Sorted: these are columns of the state, and must not depend on the order of the calls.
        self._kept = sorted({i for f in self._functions if f.reach != FrameReach() for i in f.inputs})
        frames = [c.frame for c in specification.calls]
        self.ahead_rows = max((f.ahead for f in frames if f.unit == "ROWS"), default=0)
        self.ahead_time = max((f.ahead for f in frames if f.unit == "RANGE"), default=0)
        reach = _widest([f.reach for f in self._functions])
        # A row that comes out now may be so much older than those that come next.
        self.reach = reach if reach.time is None else replace(reach, time=reach.time + self.ahead_time)

    def release(self, state: OverState, rows: pa.Table, times: Ints, horizon: int | None) -> Released:
        """Let those rows come out of which all that they look at is known.

        Args:
            state: what is known; none of its rows is later than these.
            rows: in the order of arrival; none can come before the last of them any more.
            times: of each row (ms).
            horizon: the least time (ms) that a later row can have; None: unknown.
        """
        # Kept rows, new rows and running keys are numbered together, then told apart by their places.
        keys = self._numbered(state, rows)
        old, running = state.reached.num_rows, keys[state.reached.num_rows + rows.num_rows :]
        key = keys[: old + rows.num_rows]
        time = np.concatenate([self._times(state.reached), times])
        # Kept rows stand before new ones of the same time: they came earlier.
        order = Timeline.order(key, time)
        due = self._due(key[order], time[order], order >= old, horizon)
        if not due.any():
            return Released(state, self.no_rows(), np.zeros(rows.num_rows, np.bool_))
        bounds = FrameBounds(Timeline(key[order], time[order], due, state.passed))
        columns = self._columns(state.reached, rows, order)
        # ``kept`` has a row for each key that has rows that come out; other keys keep what they had.
        outputs, kept = self._results(state.running, running, bounds, columns)
        arrived = order[due] - old
        reached = self._reached(columns, bounds.timeline, due | (order < old), horizon)
        last = arrived[bounds.timeline.ends]
        after = replace(
            state,
            reached=reached,
            running=self._running(state.running, ~np.isin(running, key[old + arrived]), rows, last, kept),
            passed=state.passed + len(order),
        )
        came = np.zeros(rows.num_rows, np.bool_)
        came[arrived] = True
        # Where a row stands among those that come out, in the order of arrival.
        places = np.cumsum(came) - 1
        out = self._out(rows.filter(pa.array(came)), times[came], outputs, places[arrived], bounds.timeline)
        return Released(after, out, came)

    def _due(self, key: Ints, time: Ints, new: Bools, horizon: int | None) -> Bools:
        """Return which rows of a timeline come out."""
        if horizon is None or horizon >= Clock.END or not (self.ahead_rows or self.ahead_time):
            return new
        # Those that are waited for are a key's last ones in any case.
        return new & (time < horizon - self.ahead_time) & (rows_behind(key) >= self.ahead_rows)

    def pruned(self, state: OverState, horizon: int) -> OverState:
        """Return a state without the rows that no frame can reach any more."""
        if self.reach.rows or not state.reached.num_rows:
            return state
        keep = self._times(state.reached) >= self._least(horizon)
        return replace(state, reached=state.reached.filter(pa.array(keep)))

    def no_rows(self) -> pa.Table:
        """Return what comes out where nothing does."""
        values = [self._types[i] for i in self._specification.values]
        results = [t for f in self._functions for t in f.output_types]
        return table_of([pa.nulls(0, t) for t in (*values, *results, pa.int8())])

    def last_reached(self, state: OverState) -> int:
        """Return the latest time (ms) of a row that is kept."""
        return int(self._times(state.reached).max(initial=BEFORE_ALL))

    def keys_held(self, state: OverState) -> int:
        """Return how many keys a state knows something of."""
        numbers = self._numbered(state, state.waiting)
        return int(numbers.max(initial=-1)) + 1

    def _numbered(self, state: OverState, rows: pa.Table) -> Ints:
        """Return a number for the key of each row that is kept, of the given rows, and of what is running."""
        return key_numbers(self._specification.keys, state.reached, rows, state.running)

    def _times(self, reached: pa.Table) -> Ints:
        return integers(reached.column(self._specification.keys)) if reached.num_columns else np.zeros(0, np.int64)

    def _columns(self, reached: pa.Table, rows: pa.Table, order: Ints) -> dict[int, pa.Array]:
        """Return the keys and inputs of all rows in the timeline's order; NULL where a row's is not kept."""
        wanted = {*range(self._specification.keys), *(i for f in self._functions for i in f.inputs)}
        keys = self._specification.keys
        places = {i: i for i in range(keys)} | {i: keys + 1 + n for n, i in enumerate(self._kept)}
        columns = {}
        for position in sorted(wanted):
            old = pa.nulls(reached.num_rows, self._types[position])
            if position in places and reached.num_columns:
                old = whole(reached.column(places[position]))
            columns[position] = taken(pa.concat_arrays([old, whole(rows.column(position))]), order)
        return columns

    def _results(
        self, running: pa.Table, keys: Ints, bounds: FrameBounds, columns: dict[int, pa.Array]
    ) -> tuple[list[pa.Array], list[pa.Array]]:
        """Return the results of all functions, and what they keep of each key that has rows here."""
        timeline = bounds.timeline
        mine = timeline.key[timeline.due]
        known = np.flatnonzero(np.isin(keys, mine))
        place_of = np.full(max(int(timeline.key.max(initial=-1)), int(keys.max(initial=-1))) + 1, -1)
        place_of[keys[known]] = np.arange(len(known))
        outputs: list[pa.Array] = []
        kept: list[pa.Array] = []
        for function in self._functions:
            begin = self._specification.keys + len(kept)
            partials = [pa.nulls(0, t) for t in function.running_types]
            if running.num_columns:
                partials = [taken(whole(running.column(begin + i)), known) for i in range(len(partials))]
            made = function.evaluate([columns[i] for i in function.inputs], bounds, Before(partials, place_of[mine]))
            outputs += made.outputs
            kept += made.running
        return outputs, kept

    def _reached(self, columns: dict[int, pa.Array], timeline: Timeline, out: Bools, horizon: int | None) -> pa.Table:
        """Return those of the rows that are ``out`` that later ones look at."""
        places = np.flatnonzero(out)
        keep = rows_behind(timeline.key[places]) < self.reach.rows
        if self.reach.time is not None and horizon is not None:
            keep |= timeline.time[places] >= self._least(horizon)
        places = places[keep]
        keys = [taken(columns[i], places) for i in range(self._specification.keys)]
        return table_of([*keys, pa.array(timeline.time[places]), *(taken(columns[i], places) for i in self._kept)])

    def _least(self, horizon: int) -> int:
        assert self.reach.time is not None
        return max(horizon - self.reach.time, BEFORE_ALL)

    def _running(self, before: pa.Table, stays: Bools, rows: pa.Table, last: Ints, kept: list[pa.Array]) -> pa.Table:
        if not kept:
            return before
        keys = [taken(whole(rows.column(i)), last) for i in range(self._specification.keys)]
        made = table_of([*keys, *kept])
        return pa.concat_tables([before.filter(pa.array(stays)), made]) if before.num_columns else made

    def _out(self, rows: pa.Table, times: Ints, outputs: list[pa.Array], arrived: Ints, due: Timeline) -> pa.Table:
        order = stable_order(times)
        found = np.empty(len(arrived), np.int64)
        # Results are by key and time; rows go out by time and arrival.
        found[arrived] = np.arange(len(arrived))
        if self._specification.once:
            # Rows of one key and time come out in one step: the watermark passes them together.
            order = order[due.lasts[found[order]]]
        values = [taken(whole(rows.column(i)), order) for i in self._specification.values]
        results = [taken(column, found[order]) for column in outputs]
        return table_of([*values, *results, pa.array(np.full(len(order), INSERT, np.int8))])


def _widest(reaches: Sequence[FrameReach]) -> FrameReach:
    times = [r.time for r in reaches if r.time is not None]
    return FrameReach(max((r.rows for r in reaches), default=0), max(times) if times else None)
