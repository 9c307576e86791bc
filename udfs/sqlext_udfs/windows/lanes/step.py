"""Find the groups that a micro-batch touches, and what comes to them, on whole columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Bools, Groups, Ints, numbered
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.compiled import CompiledPolicy
from sqlext_udfs.windows.groups.arriving import late_by_own_window
from sqlext_udfs.windows.groups.assignment import Assignments, assign
from sqlext_udfs.windows.groups.group import BEGAN_LATE, END_SEEN
from sqlext_udfs.windows.lanes.columns import NONE, LaneMoment
from sqlext_udfs.windows.lanes.state import LaneState, LaneStates
from sqlext_udfs.windows.panes.element_maker import Batch, ElementMaker
from sqlext_udfs.windows.triggers.moment import MAX, MIN

_NOTHING: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class LaneTimes:
    """What time it is for a policy.

    Attributes:
        now: the batch clock (ms).
        before: the watermark (ms) by which rows are late, held back as the policy says; MIN for windows of the clock.
        watermark: the one by which windows end (ms).
    """

    now: int
    before: int
    watermark: int

    @classmethod
    def of(cls, plan: CompiledPolicy, clock: Clock) -> LaneTimes:
        """Return the times of a step."""
        now = 0 if clock.now is None else clock.now
        if plan.policy.processing_time:
            return cls(now, MIN, now)
        return cls(now, *(_held_back(w, plan.policy.delay) for w in (clock.late_watermark, clock.watermark)))


@dataclass
class TouchedLanes:
    """The groups that a step is about, and what comes to them.

    Attributes:
        groups: those that are known and then those that begin now.
        rest: all others.
        known: how many are known.
        into: the group of each element that is taken, once for each of its windows.
        element: that element.
        late: the elements that are late for all their windows.
    """

    groups: LaneState
    rest: LaneState
    known: int
    into: Ints
    element: Ints
    late: Ints


def touched(
    state: LaneState,
    batch: Batch | None,
    plan: CompiledPolicy,
    maker: ElementMaker,
    states: LaneStates,
    times: LaneTimes,
) -> TouchedLanes:
    """Return the groups to which rows come, or of which a deadline has come."""
    strict = plan.policy.options.deadline == "after"
    due = (state.event <= times.watermark) | (state.processing < times.now if strict else state.processing <= times.now)
    # MAX is no deadline, whatever the clock says.
    due &= (state.processing != MAX) | (state.event <= times.watermark)
    if batch is None:
        places = np.flatnonzero(due)
        return TouchedLanes(
            state.take(places), state.take(np.flatnonzero(~due)), len(places), _NOTHING, _NOTHING, _NOTHING
        )
    windows, late, keys = _windows(state, batch, plan, maker, times)
    count = len(state)
    columns = (
        (keys.ids[:count], windows.key),
        (state.start, windows.start),
        (state.lanes.end, windows.end),
    )
    groups = numbered((), [np.concatenate(pair) for pair in columns])
    # Held groups and arriving windows are numbered together; known ones come first, then those that begin.
    place = np.full(groups.count, -1)
    place[groups.ids[:count]] = np.arange(count)
    wanted = np.zeros(groups.count, np.bool_)
    wanted[groups.ids[count:]] = True
    wanted[groups.ids[:count][due]] = True
    old, new = np.flatnonzero(wanted & (place >= 0)), np.flatnonzero(wanted & (place < 0))
    lane = np.full(groups.count, -1)
    lane[old], lane[new] = np.arange(len(old)), len(old) + np.arange(len(new))
    first = Groups(groups.ids[count:], groups.count).first()[new]
    begins = [taken(k, windows.element[first]) for k in batch.kept.keys]
    fresh = states.fresh(begins, windows.start[first], windows.end[first])
    stays = np.ones(count, np.bool_)
    stays[place[old]] = False
    rest = state.take(np.flatnonzero(stays))
    return TouchedLanes(
        state.take(place[old]).and_(fresh), rest, len(old), lane[groups.ids[count:]], windows.element, late
    )


def moment(
    of: TouchedLanes, plan: CompiledPolicy, times: LaneTimes, batch: Batch | None, maker: ElementMaker
) -> LaneMoment:
    """Return where a step begins, and mark the groups that begin behind the watermark (rule M9)."""
    g, options = of.groups.lanes, plan.policy.options
    passing = np.where(g.end == MAX, MAX, g.end - 1) if options.window_end == "last_ms" else g.end
    nothing = np.zeros(len(g), np.bool_)
    rowtime = None if batch is None else maker.rows(batch, np.zeros(batch.kept.rows(), np.int64)).rowtime
    if rowtime is not None:
        first = Groups(of.into, len(g)).first()
        rowtime = np.where(first >= 0, rowtime[of.element[first]] if len(of.element) else NONE, NONE)
    strict = options.deadline == "after"
    t = LaneMoment(times.now, times.before, passing, nothing.copy(), rowtime, nothing.copy(), strict)
    begins = np.arange(len(g)) >= of.known
    # Its panes are LATE from the first on, and its end is not passed a second time.
    g.set_flags(begins & (g.end != MAX) & t.ended(), BEGAN_LATE | END_SEEN)
    return t


def _windows(
    state: LaneState, batch: Batch, plan: CompiledPolicy, maker: ElementMaker, times: LaneTimes
) -> tuple[Assignments, Ints, Groups]:
    """Return the windows of elements, the elements late for all of theirs, and the keys of groups and elements."""
    kept = batch.kept
    both = [pa.concat_arrays([a, b]) for a, b in zip(state.keys, kept.keys, strict=True)]
    keys = numbered(both, (), len(state) + kept.rows())
    rows = maker.rows(batch, keys.ids[len(state) :])
    windows = assign(plan.policy, rows, times.now)
    own = plan.moment()
    own.watermark = times.before
    late: Bools = late_by_own_window(windows, own, plan)
    if not late.any():
        return windows, _NOTHING, keys
    lost = only_in(windows.element[late], windows.element[~late])
    return windows.only(np.flatnonzero(~late)), lost, keys


def only_in(some: Ints, others: Ints) -> Ints:
    """Return the numbers that are among some and not among others, ascending; in time and space of the largest."""
    there = np.zeros(int(some.max(initial=-1)) + 1, np.bool_)
    there[some] = True
    there[others[others < len(there)]] = False
    return np.flatnonzero(there)


def _held_back(watermark: int | None, delay: int) -> int:
    if watermark is None:
        return MIN
    return watermark if watermark in (MIN, MAX) else max(watermark - delay, MIN)
