"""The batch clock: deadlines, periods, idleness (EMIT.md M1 to M4, M11, M14, M15)."""

from __future__ import annotations

import pytest
from panes import NO_WINDOW, TEN, after, aligned, at, run, timed, values

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.groups.engine import WindowEngine
from sqlext_udfs.windows.panes.rows import ElementRows
from sqlext_udfs.windows.policy import Options, Policy, Session, Tumble
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterIdle,
    AfterWatermark,
    Align,
    AllOf,
    Delay,
    EveryAligned,
    EveryPeriod,
    Repeat,
    Timeout,
    WindowClose,
)


def test_m1_a_row_arrives_at_the_clock_of_its_batch() -> None:
    s = run(NO_WINDOW, after(10))
    s.step(at(1), now=7)
    assert values(s.to_clock(16)) == []
    assert values(s.to_clock(17)) == [(1,)]


@pytest.mark.parametrize(("deadline", "fires"), [("at", True), ("after", False)])
def test_m2_a_deadline_fires_at_or_after(deadline: str, fires: bool) -> None:
    s = run(NO_WINDOW, after(5), options=Options(deadline=deadline))  # type: ignore[arg-type]
    s.rows(*at(1))
    assert (values(s.to_clock(5)) == [(1,)]) == fires
    assert (values(s.to_clock(6)) == [(1,)]) != fires


def test_m2_a_deadline_of_now_fires_in_the_same_step_after_all_rows() -> None:
    s = run(NO_WINDOW, after(0))
    assert values(s.rows(*at(1, 2, 3))) == [(1, 2, 3)]


def test_m3_the_state_says_when_to_wake_up() -> None:
    s = run(TEN, AfterWatermark(early=after(30)), lateness=5)
    s.step(at(1), now=100)
    assert s.state.wakeup() == (10, 130)
    s.to_clock(130)
    assert s.state.wakeup() == (10, None)
    s.to_watermark(10)
    assert s.state.wakeup() == (15, None)
    s.to_watermark(15)
    assert s.state.wakeup() == (None, None)


def test_m3_a_policy_of_the_clock_needs_one() -> None:
    engine = WindowEngine(Policy(TEN, after(1)))
    with pytest.raises(ValueError, match="batch clock"):
        engine.step(engine.empty(), ElementRows.none(), Clock(0))


def test_m4_however_many_periods_pass_there_is_one_pane() -> None:
    s = run(NO_WINDOW, EveryPeriod(5))
    s.rows(*at(1))
    assert values(s.to_clock(23)) == [(1,)]
    assert values(s.to_clock(24)) == []
    assert values(s.to_clock(25)) == [(1,)]


def test_m4_each_missed_period_has_its_pane_where_asked() -> None:
    s = run(NO_WINDOW, EveryPeriod(5), options=Options(missed_firings="each"))
    s.rows(*at(1))
    assert values(s.to_clock(23)) == [(1,)] * 4


def test_m11_idle_counts_from_the_last_row_of_the_group() -> None:
    s = run(NO_WINDOW, AfterIdle(5), mode="DISCARDING")
    s.step(at(1), now=0)
    s.step(at(2), now=4)
    s.step(at(9, key="other"), now=6)
    assert values(s.to_clock(8)) == []
    assert values(s.to_clock(9)) == [(1, 2)]
    assert values(s.to_clock(100)) == [(9,)]
    s.step(at(3), now=101)
    assert values(s.to_clock(106)) == [(3,)]


def test_m11_idle_of_the_query_counts_from_any_row() -> None:
    s = run(NO_WINDOW, AfterIdle(5, of_query=True), mode="DISCARDING")
    s.step(at(1), now=0)
    s.step(at(9, key="other"), now=4)
    assert values(s.to_clock(8)) == []
    assert sorted(values(s.to_clock(9))) == [(1,), (9,)]


def test_m11_idleness_of_merged_sessions_is_that_of_the_younger() -> None:
    s = run(Session(10), AfterIdle(5))
    s.step(at(0), now=0)
    s.step(at(15), now=3)
    s.step(at(8), now=4)
    assert values(s.to_clock(8)) == []
    assert values(s.to_clock(9)) == [(0, 15, 8)]


def test_watermark_with_delay_is_held_back() -> None:
    s = run(TEN, AfterWatermark(delay=3), lateness=2)
    s.rows(*at(1))
    assert timed(s.to_watermark(12)) == []
    assert timed(s.to_watermark(13)) == [("ON_TIME", (1,))]
    assert timed(s.rows(*at(2))) == [("LATE", (1, 2))]
    s.to_watermark(15)
    assert len(s.rows(*at(2)).late) == 1
    assert not len(s.state)


def test_and_timeout_closes_all_windows_when_no_rows_come() -> None:
    s = run(TEN, AfterWatermark(delay=3, timeout=20))
    s.step(at(1), now=0)
    s.step(at(11), now=15)
    assert timed(s.to_clock(34)) == []
    assert s.engine.wakeup(s.state).processing == 35
    closing = s.to_clock(35)
    assert timed(closing) == [("ON_TIME", (1,)), ("ON_TIME", (11,))]
    assert all(pane.last for pane in closing.panes)
    assert s.engine.wakeup(s.state).processing is None
    closed = s.state
    s.saved = False
    s.step((), now=36)
    assert len(closed) == len(s.state) == 2
    dropped = s.step(at(2, 21), now=36)
    assert [row.ts for row in dropped.closed] == [2]
    assert timed(s.to_watermark(34)) == [("ON_TIME", (21,))]
    assert not len(s.state)


def test_window_close_with_timeout() -> None:
    s = run(TEN, WindowClose(timeout=20), lateness=100)
    s.step(at(1), now=0)
    assert timed(s.to_clock(20)) == [("ON_TIME", (1,))]
    assert timed(s.end()) == []


def test_m14_at_the_end_of_input_the_clock_is_frozen() -> None:
    s = run(TEN, after(5), mode="DISCARDING")
    s.rows(*at(1, 12))
    assert timed(s.end()) == [("ON_TIME", (1,)), ("ON_TIME", (12,))]


def test_m14_processing_time_windows_stay_open_at_the_end_of_input() -> None:
    s = run(TEN, AfterWatermark(), processing_time=True)
    s.step(at(1), now=3)
    assert timed(s.end()) == []
    assert len(s.state) == 1


def test_processing_time_windows_end_by_the_batch_clock() -> None:
    s = run(TEN, AfterWatermark(), processing_time=True)
    s.step(at(500), now=3)
    assert timed(s.to_clock(9)) == []
    step = s.to_clock(10)
    assert timed(step) == [("ON_TIME", (500,))]
    assert step.panes[0].window == (0, 10)
    assert not len(s.state)


def test_m15_every_restarts_with_the_first_row_after_a_pane() -> None:
    s = run(NO_WINDOW, Repeat(after(5)), mode="DISCARDING")
    s.step(at(1), now=0)
    assert values(s.to_clock(5)) == [(1,)]
    s.step(at(2), now=7)
    assert values(s.to_clock(11)) == []
    assert values(s.to_clock(12)) == [(2,)]


def test_m15_every_repeat_goes_on_without_rows_but_not_with_empty_contents() -> None:
    s = run(NO_WINDOW, EveryPeriod(5))
    s.step(at(1), now=2)
    assert [values(s.to_clock(t)) for t in (6, 7, 12)] == [[], [(1,)], [(1,)]]
    emptied = run(NO_WINDOW, EveryPeriod(5), mode="DISCARDING")
    emptied.step(at(1), now=2)
    assert [values(emptied.to_clock(t)) for t in (7, 12)] == [[(1,)], []]


def test_m15_every_repeat_may_be_moved_on() -> None:
    s = run(NO_WINDOW, EveryPeriod(7, (Align(10),)))
    s.step(at(1), now=2)
    assert [t for t in range(3, 41) if values(s.to_clock(t))] == [10, 20, 30, 40]


def test_m15_every_aligned_is_at_multiples_of_the_clock() -> None:
    s = run(NO_WINDOW, EveryAligned(10))
    s.step(at(1), now=12)
    assert [t for t in range(13, 60) if values(s.to_clock(t))] == [20]
    s.step(at(2), now=60)
    assert [t for t in range(61, 90) if values(s.to_clock(t))] == [70]
    repeated = run(NO_WINDOW, EveryAligned(10, repeat=True))
    repeated.step(at(1), now=12)
    assert [t for t in range(13, 60) if values(repeated.to_clock(t))] == [20, 30, 40, 50]


def test_m15_aligned_in_windows_of_the_clock_leaves_the_end_to_the_last_pane() -> None:
    s = run(TEN, EveryAligned(5, repeat=True), processing_time=True)
    s.step(at(1), now=3)
    assert timed(s.to_clock(5)) == [("EARLY", (1,))]
    assert timed(s.to_clock(10)) == [("ON_TIME", (1,))]


@pytest.mark.parametrize(("clock", "deadline"), [(7, 15), (15, 15), (16, 75), (75, 75)])
def test_m15_aligned_to_the_first_aligned_time_also_below_the_offset(clock: int, deadline: int) -> None:
    s = run(NO_WINDOW, aligned(60, 15))
    s.step(at(1), now=clock)
    assert s.state.wakeup().processing in (deadline, None)
    assert deadline == clock or values(s.to_clock(deadline)) == [(1,)]


def test_m15_delay_and_align_in_written_order() -> None:
    for transforms, deadline in (((Delay(10), Align(60)), 120), ((Align(60), Delay(10)), 70)):
        s = run(NO_WINDOW, AfterDelay(transforms))
        s.step(at(1), now=55)
        assert s.state.wakeup().processing == deadline


def test_all_of_remembers_a_deadline_that_has_passed_and_then_counts_exactly() -> None:
    s = run(NO_WINDOW, AllOf((AfterCount(2), after(5))), mode="DISCARDING")
    s.step(at(1), now=0)
    assert values(s.to_clock(9)) == []
    assert values(s.step(at(2, 3, 4), now=10)) == [(1, 2)]


def test_timeout_counts_from_the_first_or_the_last_row() -> None:
    for since_last, deadline in ((False, 10), (True, 14)):
        s = run(NO_WINDOW, Timeout(AfterCount(3), 10, since_last_row=since_last))
        s.step(at(1), now=0)
        s.step(at(2), now=4)
        assert values(s.to_clock(deadline - 1)) == []
        assert values(s.to_clock(deadline)) == [(1, 2)]


def test_keeping_state_goes_on_counting_after_the_timeout() -> None:
    kept = run(NO_WINDOW, Timeout(AfterCount(3), 10, keep_state=True), mode="DISCARDING")
    anew = run(NO_WINDOW, Timeout(AfterCount(3), 10), mode="DISCARDING")
    for s in (kept, anew):
        s.step(at(1, 2), now=0)
        assert values(s.to_clock(10)) == [(1, 2)]
    assert values(kept.step(at(3), now=11)) == [(3,)]
    assert values(anew.step(at(3), now=11)) == []
    assert values(anew.to_clock(21)) == [(3,)]


def test_keeping_state_keeps_that_the_timeout_has_been() -> None:
    s = run(NO_WINDOW, Timeout(AfterCount(3), 10, keep_state=True))
    s.step(at(1), now=0)
    assert values(s.to_clock(10)) == [(1,)]
    s.step(at(2), now=11)
    assert values(s.to_clock(40)) == []
    assert values(s.step(at(3), now=41)) == [(1, 2, 3)]
    s.step(at(4), now=50)
    assert values(s.to_clock(60)) == [(1, 2, 3, 4)]
    since_last = run(NO_WINDOW, Timeout(AfterCount(3), 10, since_last_row=True, keep_state=True))
    since_last.step(at(1), now=0)
    since_last.to_clock(10)
    since_last.step(at(2), now=11)
    assert values(since_last.to_clock(21)) == [(1, 2)]


def test_a_timeout_that_finishes_closes_under_once() -> None:
    s = run(NO_WINDOW, Timeout(AfterCount(3), 10), once=True)
    s.step(at(1), now=0)
    assert [p.last for p in s.to_clock(10).panes] == [True]
    assert len(s.step(at(2), now=11).closed) == 1


def test_early_pane_of_the_clock_and_on_time_pane_in_one_step() -> None:
    s = run(Tumble(10), AfterWatermark(early=after(5)), mode="DISCARDING", on_time_pane="ALWAYS")
    s.rows(*at(1))
    assert timed(s.step((), watermark=10, now=5)) == [("EARLY", (1,)), ("ON_TIME", ())]
