"""Compute functions OVER the rows of a window of time, when it is over: all rows are there then, as in batch mode.

Rows wait until the watermark reaches the end of their window. Then they are sorted, and every function may look at any
row of its partition. A row of a window that is over is late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, table_of, taken, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Bools, Ints, numbered
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.kernel.table_codec import TableState
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import FrameBounds
from sqlext_udfs.over.partitions import partition_function
from sqlext_udfs.over.specification import OverCall
from sqlext_udfs.over.timeline import Timeline
from sqlext_udfs.ranking.rows import in_order
from sqlext_udfs.ranking.specification import SortKey


@dataclass(frozen=True, slots=True)
class WindowedOverSpecification:
    """The operator's input columns by position, and what is made of them.

    Attributes:
        keys: how many of the first columns are PARTITION BY, the bounds of the window among them.
        end: the end of the window, BIGINT of milliseconds (UTC).
        values: columns that are handed on.
        calls: the functions. RANGE frames go by rows that are equal in ORDER BY.
        orders: each ORDER BY that one of them has; without items all rows of a partition are equal.
        order_of: which of these each call has.
    """

    keys: int
    end: int
    values: tuple[int, ...]
    calls: tuple[OverCall, ...]
    orders: tuple[tuple[SortKey, ...], ...]
    order_of: tuple[int, ...]


class WindowedOverOperator(TableState, BucketOperator[pa.Table]):
    """Let the rows of windows that are over out with their results.

    The state has the rows that wait, as they came. The columns ``values`` come out, the results of each call, and the
    row kind INSERT.

    Args:
        specification: what is computed.
        types: of the columns that go in.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """

    def __init__(self, specification: WindowedOverSpecification, types: Sequence[pa.DataType]) -> None:
        self._spec = specification
        self._functions = [partition_function(call, types) for call in specification.calls]
        results = [t for f in self._functions for t in f.output_types]
        self.output_types = (*(types[i] for i in specification.values), *results, pa.int8())

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the rows: each one comes out."""
        return rows

    def empty(self) -> pa.Table:
        """Return no rows."""
        return pa.table({})

    def step(self, state: pa.Table, rows: pa.Table | None, clock: Clock) -> StepResult[pa.Table]:
        """Keep the rows, and let those out whose window is over."""
        rows, late = self._in_time(rows, clock)
        waiting = state
        if rows is not None and rows.num_rows:
            waiting = pa.concat_tables([state, rows]) if state.num_rows else rows
        if not waiting.num_rows or clock.watermark is None:
            return StepResult(waiting, self._nothing(), late, open_groups=waiting.num_rows)
        due = integers(waiting.column(self._spec.end)) <= clock.watermark
        if not due.any():
            return StepResult(waiting, self._nothing(), late, open_groups=waiting.num_rows)
        rest = waiting.filter(pa.array(~due))
        return StepResult(rest, self._results(waiting.filter(pa.array(due))), late, open_groups=rest.num_rows)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: pa.Table) -> int:
        """Return how many rows wait."""
        return int(state.num_rows)

    def key_places(self, state: pa.Table) -> Sequence[int]:
        """Return where the columns stand that choose the bucket."""
        return range(self._spec.keys)

    def next_wakeup(self, state: pa.Table) -> Wakeup:
        """Return the first end of a window."""
        return Wakeup(int(integers(state.column(self._spec.end)).min()) if state.num_rows else None)

    def _in_time(self, rows: pa.Table | None, clock: Clock) -> tuple[pa.Table | None, int]:
        """Return the rows whose window is not over, and how many others there are."""
        if rows is None or clock.late_watermark is None:
            return rows, 0
        early: Bools = integers(rows.column(self._spec.end)) > clock.late_watermark
        return (rows, 0) if early.all() else (rows.filter(pa.array(early)), int((~early).sum()))

    def _nothing(self) -> pa.Table:
        return table_of([pa.nulls(0, t) for t in self.output_types])

    def _results(self, rows: pa.Table) -> pa.Table:
        """Return rows of whole windows with their results."""
        spec, columns = self._spec, [whole(c) for c in rows.columns]
        known = normalised(rows.select(range(spec.keys)))
        keys = numbered([whole(c) for c in known.columns], (), rows.num_rows)
        sorted_ = [in_order(keys, [columns[o.place] for o in by], by, latest_first=False) for by in spec.orders]
        # Rows that are equal in ORDER BY have one time, so RANGE takes them together.
        bounds = [FrameBounds(_timeline(keys.ids[s.places], np.cumsum(s.new))) for s in sorted_]
        # Where each row stands in an order.
        places = [np.argsort(s.places) for s in sorted_]
        nothing = np.full(rows.num_rows, -1)
        results: list[pa.Array] = []
        for function, by in zip(self._functions, spec.order_of, strict=True):
            inputs = [taken(columns[i], sorted_[by].places) for i in function.inputs]
            before = Before([pa.nulls(0, t) for t in function.running_types], nothing)
            results += [taken(c, places[by]) for c in function.evaluate(inputs, bounds[by], before).outputs]
        values = [columns[i] for i in spec.values]
        return table_of([*values, *results, pa.array(np.full(rows.num_rows, INSERT, np.int8))])


def _timeline(key: Ints, time: Ints) -> Timeline:
    return Timeline(key, time, np.ones(len(key), np.bool_), 0)
