"""Triggers that look at rows: counts, DELTA, WHEN, CASE, USING, purging, evictors (EMIT.md M5, M16, section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from panes import NO_WINDOW, TEN, after, at, run, timed, valued, values

from sqlext_udfs.windows.groups.engine import WindowEngine
from sqlext_udfs.windows.policy import Hop, KeepCount, KeepDelta, KeepTime, KeepUsing, Policy, Session
from sqlext_udfs.windows.triggers.hooks import Action, TriggerContext
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelta,
    AfterWatermark,
    AllOf,
    AnyOf,
    Case,
    EachOf,
    EveryRow,
    Purging,
    Repeat,
    Timeout,
    Until,
    Using,
    When,
)
from tests.window_simulation import Row

NAN = float("nan")


def test_m5_exact_counts_cut_a_batch() -> None:
    s = run(NO_WINDOW, Repeat(AfterCount(3)), mode="DISCARDING")
    assert values(s.rows(*at(*range(7)))) == [(0, 1, 2), (3, 4, 5)]
    assert values(s.rows(*at(7, 8))) == [(6, 7, 8)]


def test_m5_exact_counts_accumulate() -> None:
    s = run(NO_WINDOW, Repeat(AfterCount(3)))
    step = s.rows(*at(*range(7)))
    assert values(step) == [(0, 1, 2), (0, 1, 2, 3, 4, 5)]
    assert step.decisions.panes.base == [-1, 0]
    assert len(step.decisions.panes.segments[1]) == 1


def test_m5_at_least_and_every_row_ask_once_a_batch() -> None:
    for trigger in (AfterCount(3, at_least=True), EveryRow()):
        s = run(NO_WINDOW, trigger, mode="DISCARDING")
        assert values(s.rows(*at(*range(7)))) == [tuple(range(7))]
    s = run(NO_WINDOW, AfterCount(3, at_least=True), mode="DISCARDING")
    assert values(s.rows(*at(1, 2))) == []
    assert values(s.rows(*at(3, 4))) == [(1, 2, 3, 4)]


def test_m5_at_a_merge_counts_add_and_are_tested_once() -> None:
    s = run(Session(10), Repeat(AfterCount(3)), mode="DISCARDING")
    assert values(s.rows(*at(0, 1, 30, 31))) == []
    assert values(s.rows(*at(10, 20))) == [(0, 1, 10), (30, 31, 20)]
    assert values(s.rows(*at(21, 22))) == []


def test_m5_a_merge_may_bring_more_than_n() -> None:
    s = run(Session(10), Repeat(AfterCount(3)), mode="DISCARDING")
    s.rows(*at(0, 1, 18, 19))
    assert values(s.rows(*at(9))) == [(0, 1, 18, 19, 9)]
    assert values(s.rows(*at(9, 9))) == []


def test_counts_in_composites_cut_batches_too() -> None:
    each = EachOf((AfterCount(1), AfterCount(2)))
    s = run(NO_WINDOW, each, mode="DISCARDING")
    assert values(s.rows(*at(1, 2, 3, 4, 5, 6))) == [(1,), (2, 3), (4,), (5, 6)]
    until = Until(Repeat(AfterCount(2)), AfterCount(5))
    s = run(NO_WINDOW, until, mode="DISCARDING")
    assert values(s.rows(*at(1, 2, 3, 4, 5, 6, 7))) == [(1, 2), (3, 4), (5,), (6, 7)]
    both = AllOf((AfterCount(2), AfterCount(3)))
    s = run(NO_WINDOW, both, mode="DISCARDING")
    assert values(s.rows(*at(1, 2, 3, 4, 5, 6))) == [(1, 2, 3), (4, 5, 6)]


def test_counts_with_a_window_that_has_ended_cut_late_batches() -> None:
    s = run(TEN, AllOf((AfterCount(2), AfterWatermark())), mode="DISCARDING", lateness=100, on_time_pane="IF_NOT_EMPTY")
    s.rows(*at(1))
    s.to_watermark(10)
    assert values(s.rows(*at(2, 3, 4, 5))) == [(1, 2), (3, 4)]


def test_any_of_starts_all_parts_afresh() -> None:
    s = run(NO_WINDOW, AnyOf((AfterCount(3), after(10))), mode="DISCARDING")
    s.step(at(1, 2), now=0)
    assert values(s.step(at(3), now=9)) == [(1, 2, 3)]
    assert values(s.to_clock(10)) == []
    s.step(at(4), now=12)
    assert values(s.to_clock(22)) == [(4,)]


@pytest.mark.parametrize(("absolute", "fires"), [(False, [(5, 1, 9)]), (True, [(5, 1), (5, 1, 9)])])
def test_delta_compares_with_the_row_of_the_last_firing(absolute: bool, fires: list[tuple[int, ...]]) -> None:
    s = run(NO_WINDOW, AfterDelta(2.5, absolute=absolute))
    assert values(s.rows(*valued(5, 1, 9))) == fires


def test_delta_is_strict_and_skips_null() -> None:
    s = run(NO_WINDOW, AfterDelta(2))
    assert values(s.rows(*valued(NAN, 5, 7, NAN))) == []
    assert len(values(s.rows(*valued(8)))) == 1


def test_delta_of_a_composite_begins_at_its_last_pane() -> None:
    s = run(NO_WINDOW, AnyOf((AfterDelta(2), AfterCount(3))), mode="DISCARDING")
    assert values(s.rows(*valued(1, 2, 3, 5, 6))) == [(1, 2, 3), (5, 6)]


class Total:
    """SUM(value) > 10."""

    def start(self) -> float:
        return 0

    def add(self, state: float, of_row: tuple[float, ...]) -> float:
        return state + of_row[0]

    def merge(self, one: float, other: float) -> float:
        return one + other

    def holds(self, state: float) -> bool:
        return state > 10


WHEN = When("total", (0,))
CONDITIONS = {"conditions": {"total": Total()}}


def test_when_is_asked_after_each_row_of_what_the_pane_has() -> None:
    s = run(NO_WINDOW, WHEN, CONDITIONS, mode="DISCARDING")
    assert values(s.rows(*valued(4, 4, 4, 1, 11))) == [(4, 4, 4), (1, 11)]
    s = run(NO_WINDOW, WHEN, CONDITIONS)
    assert values(s.rows(*valued(6, 6, 1))) == [(6, 6), (6, 6, 1)]


def test_when_merges_with_sessions() -> None:
    s = run(Session(10), WHEN, CONDITIONS, mode="DISCARDING")
    rows = [Row("k", v, ts, (float(v),)) for v, ts in ((6, 0), (5, 15), (0, 8))]
    assert values(s.rows(*rows)) == [(6, 5, 0)]


def test_when_must_be_registered() -> None:
    with pytest.raises(ValueError, match="total"):
        run(NO_WINDOW, WHEN)


def test_case_fires_and_purges_by_row() -> None:
    continue_, fire, purge, both = range(4)
    s = run(TEN, Case(), mode="ACCUMULATING")
    rows = (continue_, fire, purge, continue_, both, fire, NAN)
    assert values(s.rows(*valued(*rows))) == [(0, 1), (0, 3), (1,)]
    assert [len(v) for v in values(s.to_watermark(10))] == [2]


def test_case_of_a_composite_purges_only_what_fires() -> None:
    s = run(NO_WINDOW, AnyOf((Case(), AfterCount(2))))
    assert values(s.rows(*valued(0, 0, 3, 0, 0))) == [(0, 0), (0, 0, 3), (0, 0)]


class EveryOther:
    """Fires at every n-th row of a key, and when its timers come."""

    def __init__(self, n: Any, timer: Any = None) -> None:
        self.n, self.timer = n, timer

    def on_row(self, rowtime: int | None, of_row: tuple[float, ...], context: TriggerContext) -> Action:
        seen = context.state.get("seen", 0) + 1
        context.state["seen"] = seen % self.n
        if self.timer and rowtime is not None:
            context.event_timers.add(rowtime + self.timer)
            context.processing_timers.add(context.now + self.timer)
        return Action.FIRE if seen == self.n else Action.CONTINUE

    def on_event_time(self, time: int, context: TriggerContext) -> Action:
        return Action.FIRE

    def on_processing_time(self, time: int, context: TriggerContext) -> Action:
        return Action.FIRE_AND_PURGE

    def on_merge(self, context: TriggerContext, others: Sequence[TriggerContext]) -> None:
        context.state["seen"] = sum(o.state.get("seen", 0) for o in others)
        for other in others:
            context.event_timers |= other.event_timers

    def clear(self, context: TriggerContext) -> None:
        context.state.clear()
        context.event_timers.clear()
        context.processing_timers.clear()


USING = {"triggers": {"every_other": EveryOther}}


def test_using_keeps_its_state_and_fires_by_row() -> None:
    s = run(NO_WINDOW, Using("every_other", (2,)), USING, mode="DISCARDING")
    assert values(s.rows(*at(1, 2, 3))) == [(1, 2)]
    assert values(s.rows(*at(4))) == [(3, 4)]


def test_using_has_timers_of_both_times() -> None:
    s = run(TEN, Using("every_other", (100, 3)), USING)
    s.rows(*at(1))
    assert s.state.wakeup() == (4, 3)
    assert values(s.to_watermark(4)) == [(1,)]
    assert values(s.to_clock(3)) == [(1,)]
    assert s.state.wakeup() == (10, None)
    assert timed(s.to_watermark(10)) == [("ON_TIME", ())]


def test_using_merges() -> None:
    s = run(Session(10), Using("every_other", (3,)), USING, mode="DISCARDING")
    assert values(s.rows(*at(0, 15))) == []
    assert values(s.rows(*at(8))) == [(0, 15, 8)]


def test_using_must_be_registered() -> None:
    with pytest.raises(ValueError, match="unknown"):
        run(TEN, Using("unknown"))


def test_m16_purging_empties_only_where_its_trigger_fired() -> None:
    s = run(NO_WINDOW, Timeout(Purging(Repeat(AfterCount(3))), 10))
    s.step(at(1, 2), now=0)
    assert values(s.to_clock(10)) == [(1, 2)]
    assert values(s.step(at(3, 4, 5), now=11)) == [(1, 2, 3, 4, 5)]
    assert values(s.step(at(6, 7, 8), now=12)) == [(6, 7, 8)]


def test_m16_purging_in_a_composite() -> None:
    s = run(NO_WINDOW, AnyOf((Purging(AfterCount(3)), AfterCount(2))))
    assert values(s.rows(*at(1, 2, 3, 4))) == [(1, 2), (1, 2, 3, 4)]
    s = run(NO_WINDOW, AnyOf((AfterCount(3), Purging(AfterCount(2)))))
    assert values(s.rows(*at(1, 2, 3, 4))) == [(1, 2), (3, 4)]


def test_keep_last_rows_before_and_after_firing() -> None:
    before = run(NO_WINDOW, Repeat(AfterCount(2)), evictor=KeepCount(3))
    assert values(before.rows(*at(1, 2, 3, 4))) == [(1, 2), (2, 3, 4)]
    late = run(NO_WINDOW, Repeat(AfterCount(2)), evictor=KeepCount(3), evict_after=True)
    assert values(late.rows(*at(1, 2, 3, 4, 5, 6))) == [(1, 2), (1, 2, 3, 4), (2, 3, 4, 5, 6)]


def test_keep_last_rows_of_merged_sessions_go_by_arrival() -> None:
    s = run(Session(10), AfterWatermark(), evictor=KeepCount(2))
    s.rows(*at(1))
    s.rows(*at(15))
    s.rows(*at(8))
    assert values(s.to_watermark(30)) == [(15, 8)]


def test_keep_last_duration_counts_from_the_newest_row() -> None:
    s = run(NO_WINDOW, Repeat(AfterCount(3)), evictor=KeepTime(10))
    assert values(s.rows(*at(5, 20, 10))) == [(20,)]
    assert values(s.rows(*at(11, 12, 21))) == [(20, 12, 21)]
    untimed = run(NO_WINDOW, Repeat(AfterCount(2)), evictor=KeepTime(10))
    assert values(untimed.rows(Row("k", 1), Row("k", 2))) == [(1, 2)]


@pytest.mark.parametrize(("absolute", "kept"), [(False, (9, 4, 5)), (True, (4, 5))])
def test_keep_delta_compares_with_the_last_row(absolute: bool, kept: tuple[int, ...]) -> None:
    s = run(NO_WINDOW, Repeat(AfterCount(4)), evictor=KeepDelta(2, absolute, 0))
    assert values(s.rows(*valued(9, 1, 4, 5))) == [kept]


def test_an_evictor_may_leave_nothing_and_the_pane_is_written() -> None:
    s = run(NO_WINDOW, Repeat(AfterCount(2)), evictor=KeepDelta(0, False, 0))
    assert values(s.rows(*valued(1, 1))) == [()]


class Even:
    """Keeps rows with an even event time."""

    def keep(self, rowtimes: Sequence[int | None]) -> list[bool]:
        return [t is not None and t % 2 == 0 for t in rowtimes]


def test_evict_using() -> None:
    hooks = {"evictors": {"even": Even}}
    s = run(NO_WINDOW, Repeat(AfterCount(3)), hooks, evictor=KeepUsing("even"))
    assert values(s.rows(*at(0, 1, 2))) == [(0, 2)]
    with pytest.raises(ValueError, match="even"):
        run(NO_WINDOW, EveryRow(), evictor=KeepUsing("even"))


def test_rows_of_several_windows() -> None:
    s = run(Hop(10, 5), Repeat(AfterCount(2)), mode="DISCARDING")
    step = s.rows(*at(6, 7))
    assert sorted(p.window for p in step.panes if p.window) == [(0, 10), (5, 15)]


def test_what_cannot_merge_is_refused_with_sessions() -> None:
    for trigger in (AfterDelta(1), Timeout(AfterCount(1), 5)):
        with pytest.raises(ValueError, match="merging"):
            WindowEngine(Policy(Session(5), trigger))
