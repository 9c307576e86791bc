"""Of several panes of one key and window in a micro-batch, only the last: all that a table kept by key can show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.udfs.core.equality import first_rows
from sqlext.udfs.core.operators import BucketOperator, Clock, State, Step, Wakeup
from sqlext.udfs.core.row_kinds import LATE_ROW, UPDATE_BEFORE
from sqlext.udfs.core.window_specification import PANE_COLUMNS

#: Where ``row_kind`` stands, from the end: behind it are the late row and its watermark.
_KIND = -3
assert PANE_COLUMNS[-1][0] == "row_kind"


class Latest(BucketOperator[State]):
    """A window operator whose superseded panes do not come out, nor the rows that take back.

    Args:
        operator: the window operator.
        keys: how many of its first output columns are the key; the window's start and end stand behind them.
    """

    def __init__(self, operator: BucketOperator[State], keys: int) -> None:
        self._operator = operator
        self._named = keys + 2

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return what the operator does."""
        return self._operator.partial(rows)

    def empty(self) -> State:
        """Return the operator's empty state."""
        return self._operator.empty()

    def step(self, state: State, rows: pa.Table | None, clock: Clock) -> Step[State]:
        """Return the operator's step with the last rows alone."""
        step = self._operator.step(state, rows, clock)
        out = self._latest(step.out)
        return Step(step.state, out, step.dropped_late, step.dropped_closed, step.open_groups)

    def next_wakeup(self, state: State) -> Wakeup:
        """Return the operator's next deadlines."""
        return self._operator.next_wakeup(state)

    def encode(self, state: State) -> bytes:
        """Return the operator's state as bytes."""
        return self._operator.encode(state)

    def decode(self, data: bytes) -> Any:
        """Return the operator's state."""
        return self._operator.decode(data)

    def _latest(self, out: pa.Table) -> pa.Table:
        if not out.num_rows:
            return out
        kinds = out.column(out.num_columns + _KIND)
        late = out.filter(pc.equal(kinds, LATE_ROW))
        panes = out.filter(pc.less(kinds, LATE_ROW))
        panes = panes.filter(pc.not_equal(panes.column(panes.num_columns + _KIND), UPDATE_BEFORE))
        backwards = panes.take(np.arange(panes.num_rows - 1, -1, -1))
        last = backwards.take(first_rows(backwards.select(range(self._named))))
        return pa.concat_tables([last, late])
