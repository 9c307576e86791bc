"""Run windows under any policy: ``engine`` decides on panes, this aggregates what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import taken, whole
from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.key_numbers import KeyNumbers
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups import pane_state
from sqlext_udfs.windows.groups.engine import WindowEngine
from sqlext_udfs.windows.groups.pane_state import PaneState, used_keys
from sqlext_udfs.windows.horizon import policy_wakeup
from sqlext_udfs.windows.panes.element_maker import Batch, ElementMaker
from sqlext_udfs.windows.panes.rows import TIMINGS, ElementRows, PaneDecisions, Panes
from sqlext_udfs.windows.panes.segments import Segments, contents, joined
from sqlext_udfs.windows.panes.table import PaneTable
from sqlext_udfs.windows.panes.written_rows import WrittenRows, changes
from sqlext_udfs.windows.policy_json import trigger_to_json
from sqlext_udfs.windows.specification import PANE_COLUMNS


class _Out(NamedTuple):
    table: pa.Table
    written: WrittenRows


class PaneEngine(BucketOperator[PaneState]):
    """Windows under any policy, group by group.

    Args:
        engine: decides on panes.
        maker: makes elements of rows.
        panes: makes the output.
        row: the column of the original row, where late rows come out; else None.
    """

    def __init__(self, engine: WindowEngine, maker: ElementMaker, panes: PaneTable, row: int | None) -> None:
        self._engine = engine
        self._maker = maker
        self._aggregation = maker.layout.aggregation
        self._panes = panes
        self._row = row
        self._retracting = engine.policy.mode == "RETRACTING"
        self._trigger = trigger_to_json(engine.policy.trigger)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return an element for each key and window of some rows, with its bucket; or the rows."""
        return self._maker.partial(rows)

    def empty(self) -> PaneState:
        """Return the state without windows."""
        written = WrittenRows.none([*self._aggregation.output_types, *(of for _, of in PANE_COLUMNS[:-1])])
        keys = KeyNumbers.none(self._panes.key_types)
        return PaneState(self._engine.empty(), keys, Segments.none(self._aggregation), written)

    def step(self, state: PaneState, rows: pa.Table | None, clock: Clock) -> StepResult[PaneState]:
        """Take rows in, and give out the panes that the engine decides on.

        Raises:
            SqlExtError: RUN-035 for a SUM that overflows, RUN-036 for a row without event time, RUN-037 for one
                without session gap.
        """
        batch = self._maker.batch(rows, state.arrived) if rows is not None and rows.num_rows else None
        keys, elements = state.keys, ElementRows.none()
        if batch is not None:
            numbers, keys = state.keys.of(batch.kept.keys, batch.kept.rows())
            elements = self._maker.rows(batch, numbers)
        decisions = self._engine.step(state.triggers, elements, clock)
        segments = state.segments
        if batch is not None:
            segments = segments.with_(self._new_segments(batch, decisions, state.arrived))
        out = self._out(state, decisions, segments, keys)
        tables = [out.table] if batch is None else [self._late_rows(batch, decisions, clock), out.table]
        return StepResult(
            self._after(state, decisions, segments, keys, out.written, rows.num_rows if rows is not None else 0),
            pa.concat_tables([t for t in tables if t is not None]),
            0 if batch is None else int(batch.kept.marks[decisions.late].sum()),
            decisions.leftover + (0 if batch is None else int(batch.kept.marks[decisions.closed].sum())),
            len(decisions.state),
        )

    @property
    def plan(self) -> CompiledPolicy:
        """The policy."""
        return self._engine.plan

    def panes_of(self, data: bytes) -> PaneState:
        """Return the state of bytes group by group."""
        return self.decode(data)

    def of_panes(self, state: PaneState) -> PaneState:
        """Return a state that is kept group by group, as it is."""
        return state

    def of_keys(self, state: PaneState, wanted: Wanted) -> PaneState:
        """Return the windows of some keys."""
        return pane_state.of_keys(state, wanted)

    def together(self, states: Sequence[PaneState]) -> PaneState:
        """Return the windows of all keys."""
        return reduce(pane_state.joined, states)

    def next_wakeup(self, state: PaneState) -> Wakeup:
        """Return when a window has something to do."""
        return policy_wakeup(self._engine.policy, self._engine.wakeup(state.triggers))

    def encode(self, state: PaneState) -> bytes:
        """Return a state as bytes."""
        return pane_state.encode(state, self._maker.layout.aggregation.named, self._trigger)

    def decode(self, data: bytes) -> PaneState:
        """Return the state of bytes."""
        return pane_state.decode(data, self._maker.layout.aggregation)

    def _new_segments(self, batch: Batch, decisions: PaneDecisions, arrived: int) -> Segments:
        """Return what came into segments."""
        # In each segment in the order of arrival.
        order = np.argsort(decisions.elements, kind="stable")
        elements = decisions.elements[order]
        numbers, ids = np.unique(decisions.segments[order], return_inverse=True)
        groups = Groups(ids.astype(np.int64), len(numbers))
        if batch.rows is not None and batch.groups is None:
            # Rows that all go in, in their order, need no copy.
            alone = len(elements) == batch.rows.num_rows and (np.diff(elements) == 1).all()
            rows = batch.rows if alone else batch.rows.take(pa.array(elements))
            return Segments(numbers, self._aggregation.start(rows, groups, arrived + elements))
        partials = [taken(p, elements) for p in batch.kept.partials]
        return Segments(numbers, self._aggregation.merge(partials, groups))

    def _out(self, state: PaneState, decisions: PaneDecisions, segments: Segments, keys: KeyNumbers) -> _Out:
        """Return the rows that come out, and what is written of open windows after that."""
        panes = decisions.panes
        if not len(panes) and not (decisions.ended and len(state.written)):
            return _Out(self._panes.none(), state.written)
        results = self._aggregation.finish(contents(self._aggregation, panes, segments))
        made = WrittenRows(
            np.asarray(panes.key, np.int64),
            np.asarray(panes.start, np.int64),
            np.asarray(panes.end, np.int64),
            [*results, *_pane_columns(panes)],
        )
        if not self._retracting:
            return _Out(self._table(made, np.full(len(made), INSERT), keys), state.written)
        # Where nobody asks which pane it is, a row with the same aggregates is the same row.
        compared = len(made.columns) if self._engine.policy.keep_index else len(results)
        changed = changes(state.written, made, np.asarray(panes.retract, np.bool_), decisions.ended, compared)
        return _Out(self._table(changed.rows, changed.kinds, keys), changed.after)

    def _table(self, rows: WrittenRows, kinds: Ints, keys: KeyNumbers) -> pa.Table:
        return self._panes.rows(keys.values(rows.key), rows.start, rows.end, rows.columns, kinds)

    def _late_rows(self, batch: Batch, decisions: PaneDecisions, clock: Clock) -> pa.Table | None:
        """Return the rows that were not taken, where they are kept."""
        lost = np.union1d(decisions.late, decisions.closed)
        # Elements that were combined before the shuffle have no rows; where late rows are kept there are none such.
        if self._row is None or batch.rows is None or not len(lost):
            return None
        places = lost if batch.groups is None else np.flatnonzero(np.isin(batch.groups.ids, lost))
        rows = batch.rows.take(pa.array(places))
        keys = self._maker.layout.key_columns(rows)
        return self._panes.late_rows(keys, whole(rows.column(self._row)), clock.late_watermark)

    def _after(
        self,
        state: PaneState,
        decisions: PaneDecisions,
        segments: Segments,
        keys: KeyNumbers,
        written: WrittenRows,
        arrived: int,
    ) -> PaneState:
        """Return the next state; the same one where nothing changed."""
        same_groups = decisions.state is state.triggers and not decisions.freed and not decisions.kept
        if same_groups and written is state.written:
            return state
        kept = joined(self._aggregation, decisions.kept, decisions.kept_from, segments)
        stored = state.segments.without(decisions.freed).with_(kept)
        # Only now: panes of groups that go still needed the values of their keys.
        keys = keys.only(used_keys(decisions.state, written))
        return PaneState(decisions.state, keys, stored, written, state.arrived + arrived)


def _pane_columns(panes: Panes) -> list[pa.Array]:
    """Return what PANE_...() give."""
    columns = (
        panes.index,
        panes.non_speculative_index,
        [TIMINGS[t] for t in panes.timing],
        panes.is_first,
        panes.is_last,
        panes.timestamp,
    )
    return [pa.array(c, of) for c, (_, of) in zip(columns, PANE_COLUMNS[:-1], strict=True)]
