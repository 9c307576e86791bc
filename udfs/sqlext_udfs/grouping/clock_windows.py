"""Compute windows of processing time over rows that may be taken back.

A change counts in the windows of the clock when it comes, as in Flink: what it takes back may have come in windows that
are over. A window in which as many rows were taken back as have come gives no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sqlext_udfs.grouping.operator import Groupings
from sqlext_udfs.grouping.windows import WindowedGroups
from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.windows.groups.assignment import fixed_windows
from sqlext_udfs.windows.policy import Cumulate, Hop, Tumble
from sqlext_udfs.windows.specification import WindowSpecification


class ClockWindows(BucketOperator[Groupings]):
    """Group by key and window of the batch clock. The columns that come out are those of a window operator.

    Args:
        specification: what is computed; each row says what it does.
        types: of the columns that go in.

    Raises:
        ValueError: for a policy or rows that the planner should have refused.
    """

    def __init__(self, specification: WindowSpecification, types: Sequence[pa.DataType]) -> None:
        window = specification.policy.window
        if not specification.policy.processing_time or not isinstance(window, Tumble | Hop | Cumulate):
            raise ValueError("windows of the clock have a fixed length")
        self._window = window
        bounded = replace(specification, start=len(types), end=len(types) + 1)
        self._windows = WindowedGroups(bounded, [*types, pa.int64(), pa.int64()])

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the net of the rows; the column of kinds becomes one of counts."""
        return self._windows.partial(rows)

    def empty(self) -> Groupings:
        """Return no windows."""
        return self._windows.empty()

    def step(self, state: Groupings, rows: pa.Table | None, clock: Clock) -> StepResult[Groupings]:
        """Add rows to the windows of now, or take them away, and give out the windows that are over."""
        return self._windows.step(state, self._with_windows(rows, clock) if rows is not None else None, clock)

    def next_wakeup(self, state: Groupings) -> Wakeup:
        """Return when the next window is over."""
        return self._windows.next_wakeup(state)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: Groupings) -> int:
        """Return how many groups there are."""
        return self._windows.open_groups(state)

    def encode(self, state: Groupings) -> bytes:
        """Return a state as bytes."""
        return self._windows.encode(state)

    def decode(self, data: bytes) -> Groupings:
        """Return the state of bytes."""
        return self._windows.decode(data)

    def of_keys(self, state: Groupings, wanted: Wanted) -> Groupings:
        """Return the windows of some keys."""
        return self._windows.of_keys(state, wanted)

    def together(self, states: Sequence[Groupings]) -> Groupings:
        """Return the windows of all keys."""
        return self._windows.together(states)

    def _with_windows(self, rows: pa.Table, clock: Clock) -> pa.Table:
        """Return the rows once for each window of now."""
        assert clock.now is not None, "windows of processing time need the batch clock"
        now = np.array([clock.now], np.int64)
        _, starts, ends = fixed_windows(self._window, now, np.zeros(1, np.int64))
        several = [self._in(rows, int(start), int(end)) for start, end in zip(starts, ends, strict=True)]
        # A row in a gap of HOP has no window.
        return pa.concat_tables(several) if several else self._in(rows.slice(0, 0), 0, 0)

    def _in(self, rows: pa.Table, start: int, end: int) -> pa.Table:
        for name, value in (("window_start", start), ("window_end", end)):
            rows = rows.append_column(name, pa.array(np.full(rows.num_rows, value, np.int64)))
        return rows
