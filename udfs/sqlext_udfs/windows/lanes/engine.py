"""Run windows that do not merge, under a policy that looks at groups: all groups are decided on at once.

It gives the panes that ``groups.pane_engine`` gives, without a loop over groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import taken, whole
from sqlext_udfs.kernel.dividing import Wanted, places_of
from sqlext_udfs.kernel.groups import Bools, Groups, Ints
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups.pane_state import PaneState
from sqlext_udfs.windows.horizon import policy_wakeup
from sqlext_udfs.windows.lanes.columns import Lanes
from sqlext_udfs.windows.lanes.firing import LaneFiring, LanePanes, initial_slots
from sqlext_udfs.windows.lanes.nodes import LaneNode
from sqlext_udfs.windows.lanes.state import LaneState, LaneStates
from sqlext_udfs.windows.lanes.step import LaneTimes, TouchedLanes, moment, only_in, touched
from sqlext_udfs.windows.other_triggers import all_at_once, group_by_group
from sqlext_udfs.windows.panes.element_maker import Batch, ElementMaker
from sqlext_udfs.windows.panes.rows import TIMINGS
from sqlext_udfs.windows.panes.table import PaneTable
from sqlext_udfs.windows.panes.written_rows import WrittenRows, changes
from sqlext_udfs.windows.specification import PANE_COLUMNS
from sqlext_udfs.windows.triggers.moment import MAX

Columns = list[pa.Array]


class LaneEngine(BucketOperator[LaneState]):
    """Windows whose groups are decided on all at once.

    Args:
        plan: the policy.
        root: its trigger.
        maker: makes elements of rows.
        states: makes states.
        panes: makes the output.
        row: the column of the original row, where late rows come out; else None.
    """

    def __init__(
        self,
        plan: CompiledPolicy,
        root: LaneNode,
        maker: ElementMaker,
        states: LaneStates,
        panes: PaneTable,
        row: int | None,
    ) -> None:
        self._plan = plan
        self._root = root
        self._maker = maker
        self._states = states
        self._panes = panes
        self._row = row
        self._aggregation = maker.layout.aggregation
        self._retracting = plan.policy.mode == "RETRACTING"

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return an element for each key and window of some rows, with its bucket; or the rows."""
        return self._maker.partial(rows)

    def empty(self) -> LaneState:
        """Return the state without windows."""
        return self._states.empty()

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: LaneState) -> int:
        """Return how many groups there are."""
        return len(state)

    def encode(self, state: LaneState) -> bytes:
        """Return a state as bytes."""
        return self._states.encode(state)

    def decode(self, data: bytes) -> LaneState:
        """Return the state of bytes."""
        return self._states.decode(data)

    @property
    def plan(self) -> CompiledPolicy:
        """The policy."""
        return self._plan

    def panes_of(self, data: bytes) -> PaneState:
        """Return the state of bytes group by group."""
        written = [*self._aggregation.output_types, *(of for _, of in PANE_COLUMNS[:-1])]
        return group_by_group(self.decode(data), self._plan, written)

    def of_panes(self, state: PaneState) -> LaneState:
        """Return a state that is kept group by group as this engine keeps it."""
        return all_at_once(state, self._states.fresh)

    def of_encoded(self, data: bytes, wanted: Wanted) -> LaneState:
        """Return the windows of some keys."""
        return self._states.of_encoded(data, wanted)

    def of_keys(self, state: LaneState, wanted: Wanted) -> LaneState:
        """Return the windows of some keys."""
        return state.take(places_of(wanted(state.keys, len(state))))

    def together(self, states: Sequence[LaneState]) -> LaneState:
        """Return the windows of all keys."""
        return replace(reduce(LaneState.and_, states), arrived=max(s.arrived for s in states))

    def next_wakeup(self, state: LaneState) -> Wakeup:
        """Return when a window has something to do."""
        return policy_wakeup(self._plan.policy, state.wakeup())

    def step(self, state: LaneState, rows: pa.Table | None, clock: Clock) -> StepResult[LaneState]:
        """Take rows in, and give out the panes of all groups that are touched.

        Raises:
            SqlExtError: RUN-035 for a SUM that overflows, RUN-036 for a row without event time.
        """
        times = LaneTimes.of(self._plan, clock)
        batch = self._maker.batch(rows, state.arrived) if rows is not None and rows.num_rows else None
        of = touched(state, batch, self._plan, self._maker, self._states, times)
        closed_elements = self._closed(of)
        lost = np.union1d(of.late, closed_elements)
        late = None if batch is None else self._late_rows(batch, lost, clock)
        counts = np.zeros(0, np.int64) if batch is None else batch.kept.marks
        dropped, closed = int(counts[of.late].sum()), int(counts[closed_elements].sum())
        if not len(of.groups):
            return StepResult(state, self._panes.none() if late is None else late, dropped, closed, len(state))
        contents = self._contents(of, batch)
        firing = self._fired(of, batch, times)
        # Contents are merged before firing: lanes never cut a batch, so a pane has all of them or nothing.
        out, written = self._out(of.groups, firing.panes, contents)
        arrived = state.arrived + (0 if rows is None else rows.num_rows)
        after = self._after(of, contents, written, firing, arrived)
        made = out if late is None else pa.concat_tables([late, out])
        return StepResult(after, made, dropped, closed + firing.leftover, len(after))

    def _closed(self, of: TouchedLanes) -> Ints:
        """Return the elements that come to closed groups only."""
        closed = of.groups.lanes.closed[of.into]
        return only_in(of.element[closed], of.element[~closed]) if closed.any() else np.zeros(0, np.int64)

    def _contents(self, of: TouchedLanes, batch: Batch | None) -> Columns:
        """Return what each group holds with what has come, and behind them what none holds."""
        g = of.groups.lanes
        held = np.flatnonzero(g.held)
        ids, partials = held, [taken(p, held) for p in of.groups.partials]
        if batch is not None:
            taken_in = ~g.closed[of.into]
            ids = np.concatenate([held, of.into[taken_in]])
            element = of.element[taken_in]
            came = [taken(p, element) for p in batch.kept.partials]
            partials = [pa.concat_arrays([a, b]) for a, b in zip(partials, came, strict=True)]
        # One group more than there are: without rows, it is the content of panes that have none.
        return self._aggregation.merge(partials, Groups(ids, len(g) + 1))

    def _fired(self, of: TouchedLanes, batch: Batch | None, times: LaneTimes) -> LaneFiring:
        """Let groups take note of rows, clock and watermark (rule M7)."""
        g = of.groups.lanes
        t = moment(of, self._plan, times, batch, self._maker)
        firing = LaneFiring(self._plan, self._root, g, t)
        if batch is not None:
            count = np.zeros(len(g), np.int64)
            np.add.at(count, of.into, batch.kept.marks[of.element])
            came = (count > 0) & ~g.closed
            g.rows[came] += count[came]
            g.held |= came
            self._root.on_row(g, t, came, count)
            firing.after_rows(came)
        firing.by_clock()
        firing.by_watermark(times.watermark)
        return firing

    def _out(self, groups: LaneState, panes: list[LanePanes], contents: Columns) -> tuple[pa.Table, Columns]:
        """Return the rows that come out, and what is written of each group after that."""
        if not panes:
            return self._panes.none(), groups.written
        lane = np.concatenate([p.lane for p in panes])
        # A pane is made of all that its group holds, or of nothing.
        places = np.where(np.concatenate([p.whole for p in panes]), lane, len(groups))
        results = self._aggregation.finish([taken(c, places) for c in contents])
        columns = [*results, *_pane_columns(panes, groups.lanes.end[lane])]
        made = WrittenRows(lane, groups.start[lane], groups.lanes.end[lane], columns)
        if not self._retracting:
            return self._table(groups, made, np.full(len(made), INSERT)), []
        compared = len(columns) if self._plan.policy.keep_index else len(results)
        changed = changes(self._written(groups), made, np.zeros(len(made), np.bool_), (), compared)
        places = np.full(len(groups), -1)
        places[changed.after.key] = np.arange(len(changed.after))
        return self._table(groups, changed.rows, changed.kinds), [taken(c, places) for c in changed.after.columns]

    def _written(self, groups: LaneState) -> WrittenRows:
        """Return what was written of groups before this step."""
        there = np.flatnonzero(_there(groups.written[len(self._aggregation.output_types)]))
        start, end = groups.start[there], groups.lanes.end[there]
        return WrittenRows(there, start, end, [taken(c, there) for c in groups.written])

    def _table(self, groups: LaneState, rows: WrittenRows, kinds: Ints) -> pa.Table:
        keys = [taken(k, rows.key) for k in groups.keys]
        return self._panes.rows(keys, rows.start, rows.end, rows.columns, kinds)

    def _late_rows(self, batch: Batch, lost: Ints, clock: Clock) -> pa.Table | None:
        """Return the rows that were not taken, where they are kept."""
        if self._row is None or batch.rows is None or batch.groups is None or not len(lost):
            return None
        rows = batch.rows.take(pa.array(np.flatnonzero(np.isin(batch.groups.ids, lost))))
        keys = self._maker.layout.key_columns(rows)
        return self._panes.late_rows(keys, whole(rows.column(self._row)), clock.late_watermark)

    def _after(
        self, of: TouchedLanes, contents: Columns, written: Columns, firing: LaneFiring, arrived: int
    ) -> LaneState:
        """Return the groups that stay, with what they hold now."""
        groups, g = of.groups, of.groups.lanes
        stays = np.flatnonzero(~g.gone & ~self._forgotten(g, written))
        partials = [taken(c, np.where(g.held, np.arange(len(g)), len(g))) for c in contents]
        if self._retracting:
            written = [taken(c, np.where(g.closed, -1, np.arange(len(g)))) for c in written]
        made = LaneState(groups.keys, groups.start, firing.event(), firing.processing(), g, partials, written, arrived)
        return of.rest.and_(made.take(stays))

    def _forgotten(self, g: Lanes, written: Columns) -> Bools:
        """Return which groups without window are as good as ones that have not begun (``Policy.keep_index``).

        Those of which a row was written that is to be taken back begin anew, but stay.
        """
        if self._plan.policy.keep_index:
            return np.zeros(len(g), np.bool_)
        forgotten = (g.end == MAX) & ~g.held & ~g.closed & (g.bits == 0)
        for slot, initial in zip(g.slots, initial_slots(self._plan.program.initial), strict=True):
            forgotten &= slot == initial
        # A group that stays for its written row alone must count panes anew, as one that begins does.
        for column in (g.index, g.spec, g.flags):
            column[forgotten] = 0
        if self._retracting:
            forgotten &= ~_there(written[len(self._aggregation.output_types)])
        return np.asarray(forgotten)


def _there(column: pa.Array) -> Bools:
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False))


def _pane_columns(panes: list[LanePanes], ends: Ints) -> Columns:
    """Return what PANE_...() give."""
    timing = pa.DictionaryArray.from_arrays(np.concatenate([p.timing for p in panes]).astype(np.int32), list(TIMINGS))
    columns = (
        pa.array(np.concatenate([p.index for p in panes])),
        pa.array(np.concatenate([p.spec for p in panes])),
        timing,
        pa.array(np.concatenate([p.first for p in panes])),
        pa.array(np.concatenate([p.last for p in panes])),
        pa.array(ends - 1, mask=ends == MAX),
    )
    return [c.cast(of) for c, (_, of) in zip(columns, PANE_COLUMNS[:-1], strict=True)]
