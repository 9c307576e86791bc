"""Compute windows of rows that may be taken back: each gives one result, when the watermark passes its end.

A window is a group whose key has the window's bounds behind it. A change that comes behind the watermark is late. Flink
does so too: it keeps such windows with the operator of its group windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sqlext_udfs.grouping.operator import GroupAggregate, Groupings
from sqlext_udfs.kernel.arrow_numpy import integers, taken
from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.zset import counts_of, netted
from sqlext_udfs.windows.horizon import horizon_of
from sqlext_udfs.windows.panes.pieces import times_of
from sqlext_udfs.windows.panes.table import PaneTable
from sqlext_udfs.windows.specification import WindowSpecification, output_types


class WindowedGroups(BucketOperator[Groupings]):
    """Group by key and window. The columns that come out are those of a window operator.

    Args:
        specification: what is computed. SQL has given the rows their windows, and each row says what it does.
        types: of the columns that go in.

    Raises:
        ValueError: for a policy or rows that the planner should have refused.
    """

    def __init__(self, specification: WindowSpecification, types: Sequence[pa.DataType]) -> None:
        horizon = horizon_of(specification.policy, specification.closed)
        kind, start, end = specification.kind, specification.start, specification.end
        if horizon is None or kind is None or start is None or end is None:
            raise ValueError("windows of rows that change give one pane, and have their bounds in columns")
        self._horizon = horizon
        self._keys = specification.keys
        self._kind, self._end = kind, end
        bounds = (start, end)
        others = (i for i in range(len(types)) if i >= self._keys and i not in bounds)
        # The bounds behind the keys: of the groups they are keys too.
        self._order = (*range(self._keys), *bounds, *others)
        at = {place: i for i, place in enumerate(self._order)}
        inner = replace(
            specification,
            keys=self._keys + len(bounds),
            aggregates=tuple(replace(a, inputs=tuple(at[i] for i in a.inputs)) for a in specification.aggregates),
            start=None,
            end=None,
            kind=at[kind],
        )
        self._groups = GroupAggregate(inner, [types[i] for i in self._order])
        self._out = PaneTable(output_types(specification, types), self._keys)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the net of the rows; the column of kinds becomes one of counts."""
        return netted(rows, self._kind)

    def empty(self) -> Groupings:
        """Return no windows."""
        return self._groups.empty()

    def step(self, state: Groupings, rows: pa.Table | None, clock: Clock) -> StepResult[Groupings]:
        """Add rows to their windows, or take them away, and give out the windows that are over.

        Raises:
            SqlExtError: RUN-036 for a row without event time.
        """
        dropped = 0
        if rows is not None and rows.num_rows:
            late = times_of(rows, self._end) <= self._horizon.late(clock)
            dropped = int(np.abs(counts_of(rows.column(self._kind))[late]).sum())
            rows = rows.filter(pa.array(~late)).select(self._order)
            state = self._groups.step(state, rows, clock).state
        over = self._ends(state) <= self._horizon.over(clock)
        if not over.any():
            return StepResult(state, self._out.none(), dropped, open_groups=len(over))
        *keys, starts, ends = (taken(k, np.flatnonzero(over)) for k in self._groups.keys_of(state))
        results = self._groups.results_of(state, over)
        out = self._out.only_panes(keys, integers(starts), integers(ends), results, None)
        return StepResult(self._groups.without(state, over), out, dropped, open_groups=int((~over).sum()))

    def next_wakeup(self, state: Groupings) -> Wakeup:
        """Return when the next window is over."""
        ends = self._ends(state)
        return self._horizon.wakeup(int(ends.min()) if len(ends) else None)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: Groupings) -> int:
        """Return how many groups there are."""
        return int(state.groups.num_rows)

    def encode(self, state: Groupings) -> bytes:
        """Return a state as bytes."""
        return self._groups.encode(state)

    def decode(self, data: bytes) -> Groupings:
        """Return the state of bytes."""
        return self._groups.decode(data)

    def of_keys(self, state: Groupings, wanted: Wanted) -> Groupings:
        """Return the windows of some keys."""
        return self._groups.of_keys(state, wanted)

    def together(self, states: Sequence[Groupings]) -> Groupings:
        """Return the windows of all keys."""
        return self._groups.together(states)

    def _ends(self, state: Groupings) -> Ints:
        """Return the end of each window that is kept."""
        return integers(self._groups.keys_of(state)[-1])
