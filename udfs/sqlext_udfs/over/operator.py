"""Compute functions OVER frames: each row comes out once, with its results.

By event time a row comes out when the watermark has passed it, in the order of time, then of arrival (Flink:
``RowTimeRangeBoundedPrecedingFunction`` and its kin). A row whose frame goes on behind it waits until the watermark has
passed the end of the frame, or until so many later rows of its key are there. Rows behind the watermark are dropped. By
processing time rows come out at once. The result is append-only: no later row is in the frame of a row that came out.

Flink's bounded frames drop rows by the last row of the key that came out, not by the watermark: they take a late row
where the key had none since. Its unbounded frames do as here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import integers, table_of, whole
from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import LATE_ROW
from sqlext_udfs.over import state as over_state
from sqlext_udfs.over.functions import output_types
from sqlext_udfs.over.lives import OverLives
from sqlext_udfs.over.specification import OverSpecification
from sqlext_udfs.over.state import OverState
from sqlext_udfs.over.step import OverStep


class OverOperator(BucketOperator[OverState]):
    """Let rows out with the results of functions over the rows before them.

    The columns ``values`` of the specification come out, the results of each call, and the row kind INSERT. Rows that
    are too late come out too, where somebody keeps them: the row, and the watermark that it met.

    Attributes:
        output_types: of the columns that come out.

    Args:
        specification: what is computed.
        types: of the columns that go in.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """

    def __init__(self, specification: OverSpecification, types: Sequence[pa.DataType]) -> None:
        self.output_types = output_types(specification, types)
        self._time = specification.time
        self._row = specification.row
        self._keys = specification.keys
        self._steps = OverStep(specification, types)
        self._lives = OverLives(specification.ttl, specification.keys)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the rows: each one comes out."""
        return rows

    def empty(self) -> OverState:
        """Return the state of a bucket that has seen nothing."""
        return OverState()

    def step(self, state: OverState, rows: pa.Table | None, clock: Clock) -> StepResult[OverState]:
        """Let the rows come out whose time it is.

        Raises:
            SqlExtError: RUN-033 if the rows have not the columns of the state, RUN-039 if a frame of processing time
                has no clock.
        """
        before = state
        state = self._lives.alive(state, clock)
        rows, behind = self._in_time(rows, clock)
        if rows is not None and rows.num_rows:
            state = replace(state, waiting=_appended(state.waiting, rows))
        state, out = self._released(self._lives.noted(state, clock), clock)
        # Where rows came out, the rows that no frame reaches are gone already.
        if state.reached is before.reached:
            state = self._expired(state, clock)
        late = behind.num_rows if behind is not None else 0
        out = self._with_late(out, behind, clock)
        return StepResult(state, out, dropped_late=late, open_groups=self._steps.keys_held(state))

    def next_wakeup(self, state: OverState) -> Wakeup:
        """Return when the next row comes out, no frame reaches the last one any more, or a key is forgotten."""
        times: list[int] = []
        if self._time is not None and state.waiting.num_rows:
            times.append(self._next_out(integers(state.waiting.column(self._time)), state.seen))
        reach = self._steps.reach
        # With ROWS frames rows stay whatever time it is, so there is no deadline.
        if reach.time is not None and not reach.rows and state.reached.num_rows:
            times.append(self._steps.last_reached(state) + reach.time + 1)
        ends = self._lives.first_end(state)
        if self._time is not None:
            return Wakeup(event=min(times, default=None), processing=ends)
        return Wakeup(processing=min([*times, *([ends] if ends is not None else [])], default=None))

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: OverState) -> int:
        """Return how many keys are known."""
        return self._steps.keys_held(state)

    def encode(self, state: OverState) -> bytes:
        """Return a state as bytes."""
        return over_state.encode(state)

    def decode(self, data: bytes) -> OverState:
        """Return the state that ``encode`` wrote."""
        return over_state.decode(data)

    def of_keys(self, state: OverState, wanted: Wanted) -> OverState:
        """Return what a state knows of some keys."""
        return over_state.of_keys(state, self._keys, wanted)

    def together(self, states: Sequence[OverState]) -> OverState:
        """Return states of different keys as one."""
        return over_state.together(states)

    def _next_out(self, waiting: Ints, seen: int | None) -> int:
        """Return the least watermark that may let one of the rows out that wait."""
        if seen is not None:
            # Rows before it wait for others of their key, at the longest until the end of time.
            waiting = waiting[waiting >= seen]
        return min(int(waiting.min()) + self._steps.ahead_time + 1, Clock.END) if len(waiting) else Clock.END

    def _in_time(self, rows: pa.Table | None, clock: Clock) -> tuple[pa.Table | None, pa.Table | None]:
        """Return the rows that are not late, and those that are; None for none."""
        if rows is None or self._time is None or clock.late_watermark is None:
            return rows, None
        # Not by the current one: rows that an operator below lets out in this batch are behind it (M7).
        early = integers(rows.column(self._time)) >= clock.late_watermark
        return (rows, None) if early.all() else (rows.filter(pa.array(early)), rows.filter(pa.array(~early)))

    def _with_late(self, out: pa.Table, late: pa.Table | None, clock: Clock) -> pa.Table:
        """Return what comes out, with the rows that are late where somebody keeps them."""
        if self._row is None:
            return out
        *others, row, met, kind = self.output_types
        *columns, kinds = out.columns
        panes = table_of([*columns, pa.nulls(out.num_rows, row), pa.nulls(out.num_rows, met), kinds])
        if late is None:
            return panes
        # BEGIN is our own mark of no watermark, not a time.
        watermark = None if clock.late_watermark == Clock.BEGIN else clock.late_watermark
        empty = [pa.nulls(late.num_rows, of) for of in others]
        known = [pa.repeat(pa.scalar(v, of), late.num_rows) for v, of in ((watermark, met), (LATE_ROW, kind))]
        return pa.concat_tables([panes, table_of([*empty, whole(late.column(self._row)), *known])])

    def _released(self, state: OverState, clock: Clock) -> tuple[OverState, pa.Table]:
        waiting = state.waiting
        if not waiting.num_rows:
            return state, self._steps.no_rows()
        times = self._times(state, clock)
        due = np.ones(len(times), np.bool_) if self._time is None else times < _least(clock)
        if not due.any():
            return state, self._steps.no_rows()
        made = self._steps.release(state, waiting.filter(pa.array(due)), times[due], self._horizon(clock))
        came = np.zeros(len(due), np.bool_)
        came[due] = made.came
        # Those of which not all is known that they look at wait on, in the order in which they came.
        seen = self._horizon(clock) if self._steps.ahead_rows else None
        return replace(made.state, waiting=waiting.filter(pa.array(~came)), seen=seen), made.out

    def _times(self, state: OverState, clock: Clock) -> Ints:
        """Return the time of each row that waits: by processing time, that of the batch where frames measure it.

        Where they do not, rows come one after the other, and none has peers.
        """
        count = state.waiting.num_rows
        if self._time is not None:
            return integers(state.waiting.column(self._time))
        if self._steps.reach.time is None:
            return state.passed + np.arange(count)
        if clock.now is None:
            raise SqlExtError("RUN-039", "a frame of processing time needs the batch clock, which has not come")
        return np.full(count, clock.now)

    def _horizon(self, clock: Clock) -> int | None:
        return _least(clock) if self._time is not None else clock.now

    def _expired(self, state: OverState, clock: Clock) -> OverState:
        horizon, reach = self._horizon(clock), self._steps.reach
        if horizon is None or reach.time is None or not state.reached.num_rows:
            return state
        is_due = self._steps.last_reached(state) + reach.time < horizon
        return self._steps.pruned(state, horizon) if is_due else state


def _least(clock: Clock) -> int:
    """Return the least time (ms) that a row still to come can have."""
    return BEFORE_ALL if clock.watermark is None else clock.watermark


def _appended(waiting: pa.Table, rows: pa.Table) -> pa.Table:
    if not waiting.num_columns:
        return rows
    if not waiting.schema.equals(rows.schema):
        known, given = (", ".join(str(f.type) for f in t.schema) for t in (waiting, rows))
        raise SqlExtError(
            "RUN-033",
            f"OVER has seen rows of ({known}), not of ({given})",
            hint="DROP QUERY starts the query anew",
        )
    return pa.concat_tables([waiting, rows])
