"""Windows and panes: watermark, lateness, expiry, timing, what panes are called (EMIT.md M6 to M9, M13, M17 to M20)."""

from __future__ import annotations

from typing import Any

import pytest
from panes import NO_WINDOW, TEN, after, at, run, timed, values

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.policy import Cumulate, Hop, Options, Session, Tumble
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterWatermark,
    AllOf,
    EveryEventTime,
    EveryRow,
    Never,
    Repeat,
    SameBatch,
    WindowClose,
)
from tests.window_simulation import Row

EARLY_LATE = AfterWatermark(early=Repeat(AfterCount(2)), late=EveryRow())


def test_m6_rows_see_the_watermark_of_the_batch_before_and_windows_the_current_one() -> None:
    s = run(TEN, EARLY_LATE, mode="DISCARDING", lateness=5)
    assert timed(s.step(at(1, 2, 3), watermark=10)) == [("EARLY", (1, 2)), ("ON_TIME", (3,))]
    assert timed(s.step(at(4), watermark=15)) == [("LATE", (4,))]


def test_m6_a_row_that_is_late_by_the_current_watermark_only_is_not_late() -> None:
    s = run(TEN, AfterWatermark())
    assert timed(s.step(at(1), watermark=50)) == [("ON_TIME", (1,))]
    assert [row.ts for row in s.step(at(2)).late] == [2]


@pytest.mark.parametrize(("option", "at_end"), [("end", 10), ("last_ms", 9)])
def test_m6_a_window_ends_at_its_end_or_its_last_millisecond(option: Any, at_end: int) -> None:
    s = run(TEN, AfterWatermark(), options=Options(window_end=option))
    s.rows(*at(1))
    assert timed(s.to_watermark(at_end - 1)) == []
    assert timed(s.to_watermark(at_end)) == [("ON_TIME", (1,))]
    assert len(s.rows(*at(1)).late) == 1


def test_m7_only_the_late_windows_skip_a_row() -> None:
    s = run(Hop(10, 5), AfterWatermark())
    s.to_watermark(10)
    step = s.rows(*at(7, 3))
    assert [row.ts for row in step.late] == [3]
    assert step.late_windows == 3
    assert [p.window for p in s.to_watermark(20).panes] == [(5, 15)]


def test_m7_a_row_without_window_is_not_late() -> None:
    s = run(Hop(4, 10), AfterWatermark())
    s.to_watermark(50)
    assert s.rows(*at(6)).late == []


def test_windows_of_every_kind() -> None:
    for window, expected in (
        (Tumble(10, 3), [(-7, 3), (3, 13)]),
        (Hop(10, 5, 1), [(-9, 1), (-4, 6), (1, 11), (6, 16)]),
        (Cumulate(12, 4), [(0, 4), (0, 8), (0, 12)]),
        (Session(4), [(0, 4), (6, 10)]),
    ):
        s = run(window, AfterWatermark())
        s.rows(*at(*((0, 6) if not isinstance(window, Cumulate) else (0,))))
        assert sorted(p.window for p in s.end().panes if p.window) == expected


def test_m8_on_time_and_expiry_in_one_step_are_one_pane() -> None:
    s = run(TEN, AfterWatermark(late=EveryRow()), lateness=5, final_pane="ALWAYS")
    s.rows(*at(1))
    (pane,) = s.to_watermark(15).panes
    assert (pane.timing, pane.last, pane.index) == ("ON_TIME", True, 0)
    assert not len(s.state)


def test_m8_leftovers_go_out_in_the_closing_pane() -> None:
    s = run(TEN, AfterWatermark(late=Repeat(AfterCount(2))), lateness=5, mode="DISCARDING")
    s.rows(*at(1))
    s.to_watermark(10)
    assert timed(s.rows(*at(2))) == []
    (pane,) = s.to_watermark(15).panes
    assert (pane.timing, pane.values, pane.last, pane.spec) == ("LATE", (2,), True, 1)


def test_m8_late_never_keeps_late_rows_for_the_closing_pane() -> None:
    s = run(TEN, AfterWatermark(late=Never()), lateness=5)
    s.rows(*at(1))
    assert timed(s.to_watermark(10)) == [("ON_TIME", (1,))]
    assert timed(s.rows(*at(2, 3))) == []
    assert timed(s.to_watermark(15)) == [("LATE", (1, 2, 3))]
    quiet = run(TEN, AfterWatermark(late=Never()), lateness=5)
    quiet.rows(*at(1))
    quiet.to_watermark(10)
    assert timed(quiet.to_watermark(15)) == []


def test_m8_window_close_is_one_pane_at_end_and_lateness() -> None:
    s = run(TEN, WindowClose(), lateness=5)
    s.rows(*at(1))
    assert timed(s.to_watermark(14)) == []
    s.rows(*at(2))
    (pane,) = s.to_watermark(15).panes
    assert (pane.timing, pane.values, pane.last) == ("ON_TIME", (1, 2), True)


@pytest.mark.parametrize(("final", "expected"), [("IF_NOT_EMPTY", []), ("ALWAYS", [("LATE", (1,))]), ("NEVER", [])])
def test_m8_final_pane_without_new_rows(final: str, expected: list[Any]) -> None:
    s = run(TEN, AfterWatermark(), lateness=5, final_pane=final)
    s.rows(*at(1))
    s.to_watermark(10)
    assert timed(s.to_watermark(15)) == expected


def test_m8_final_pane_never_counts_what_it_throws_away() -> None:
    s = run(TEN, Repeat(AfterCount(2)), final_pane="NEVER", on_time_pane="ALWAYS")
    s.rows(*at(1, 2, 3))
    step = s.to_watermark(10)
    assert timed(step) == []
    assert step.decisions.leftover == 1


def test_m8_end_and_lateness_saturate() -> None:
    s = run(TEN, AfterWatermark(), lateness=Clock.END)
    s.rows(*at(1))
    s.to_watermark(10)
    assert timed(s.rows(*at(2))) == [("LATE", (1, 2))]
    s.end()
    assert not len(s.state)


def test_m9_a_window_whose_first_row_is_late_has_no_on_time_pane() -> None:
    s = run(TEN, AfterWatermark(), lateness=5)
    s.to_watermark(12)
    (pane,) = s.rows(*at(1)).panes
    assert (pane.timing, pane.index, pane.spec) == ("LATE", 0, 0)


def test_m9_the_first_pane_after_the_end_is_on_time() -> None:
    s = run(TEN, Repeat(after(5)), lateness=100, mode="DISCARDING")
    s.rows(*at(1))
    s.to_watermark(10)
    assert timed(s.to_clock(5)) == [("ON_TIME", (1,))]
    s.rows(*at(2))
    assert timed(s.to_clock(10)) == [("LATE", (2,))]


def test_m9_after_a_suppressed_on_time_pane_comes_late_with_index_0() -> None:
    s = run(TEN, EARLY_LATE, mode="DISCARDING", lateness=100)
    s.rows(*at(1, 2))
    assert timed(s.to_watermark(10)) == []
    (pane,) = s.rows(*at(3)).panes
    assert (pane.timing, pane.index, pane.spec) == ("LATE", 1, 0)


@pytest.mark.parametrize(
    ("mode", "given", "expected"),
    [
        ("ACCUMULATING", None, [(1, 2)]),
        ("RETRACTING", None, [(1, 2)]),
        ("DISCARDING", None, []),
        ("DISCARDING", "ALWAYS", [()]),
        ("ACCUMULATING", "IF_NOT_EMPTY", []),
    ],
)
def test_on_time_pane_by_mode(mode: str, given: str | None, expected: list[Any]) -> None:
    s = run(TEN, EARLY_LATE, mode=mode, on_time_pane=given)
    s.rows(*at(1, 2))
    assert values(s.to_watermark(10)) == expected


def test_pane_numbers() -> None:
    s = run(TEN, EARLY_LATE, lateness=5)
    panes = [*s.rows(*at(1, 2, 3, 4)).panes, *s.to_watermark(10).panes, *s.rows(*at(5)).panes]
    assert [(p.index, p.spec, p.first, p.last, p.before) for p in panes] == [
        (0, -1, True, False, False),
        (1, -1, False, False, True),
        (2, 0, False, False, True),
        (3, 1, False, False, True),
    ]
    assert [(p.window, p.timestamp) for p in panes] == [((0, 10), 9)] * 4


def test_late_rows_without_late_give_one_pane_a_batch() -> None:
    for trigger in (AfterWatermark(), AfterWatermark(early=Repeat(AfterCount(2)))):
        s = run(TEN, trigger, lateness=50, mode="DISCARDING")
        s.rows(*at(1))
        s.to_watermark(10)
        assert timed(s.rows(*at(2, 3, 4, 5, 6))) == [("LATE", (2, 3, 4, 5, 6))]


def test_late_counts_are_exact() -> None:
    s = run(TEN, AfterWatermark(late=Repeat(AfterCount(2))), lateness=50, mode="DISCARDING")
    s.rows(*at(1))
    s.to_watermark(10)
    assert timed(s.rows(*at(2, 3, 4, 5, 6))) == [("LATE", (2, 3)), ("LATE", (4, 5))]


def test_m12_synchronised_processing_time_is_the_same_batch() -> None:
    s = run(NO_WINDOW, Repeat(SameBatch()), mode="DISCARDING")
    assert values(s.rows(*at(1, 2, 3))) == [(1, 2, 3)]


def test_m13_retracting_panes_have_all_and_say_that_there_was_one() -> None:
    s = run(TEN, EARLY_LATE, mode="RETRACTING", lateness=5)
    panes = [*s.rows(*at(1, 2)).panes, *s.to_watermark(10).panes]
    assert [(p.values, p.before, p.retract) for p in panes] == [((1, 2), False, False), ((1, 2), True, False)]
    step = s.to_watermark(15)
    assert step.decisions.ended == [(0, 0, 10)]


def test_m13_a_merged_away_session_is_taken_back() -> None:
    s = run(Session(10), EveryRow(), mode="RETRACTING")
    s.rows(*at(0, 30))
    step = s.rows(*at(5))
    assert [(p.window, p.retract, p.values) for p in step.panes] == [((0, 10), True, ()), ((0, 15), False, (0, 5))]
    assert step.decisions.ended == [(0, 0, 10)]
    inside = s.rows(*at(4))
    assert [(p.retract, p.before, p.index) for p in inside.panes] == [(False, True, 1)]
    step = s.rows(*at(12, 21))
    assert [p.window for p in step.panes if p.retract] == [(0, 15), (30, 40)]
    (pane,) = (p for p in step.panes if not p.retract)
    assert (pane.window, sorted(pane.values), pane.index) == ((0, 40), [0, 4, 5, 12, 21, 30], 0)


def test_m13_without_retracting_nothing_is_taken_back() -> None:
    s = run(Session(10), EveryRow())
    s.rows(*at(0))
    step = s.rows(*at(5))
    assert [p.retract for p in step.panes] == [False]
    assert step.decisions.ended == [(0, 0, 10)]


def test_m15_event_time_periods_begin_with_the_first_row_that_arrived() -> None:
    s = run(Tumble(100), EveryEventTime(5), mode="DISCARDING")
    s.rows(*at(7, 1))
    assert timed(s.to_watermark(9)) == []
    assert timed(s.to_watermark(10)) == [("EARLY", (7, 1))]
    s.rows(*at(20))
    assert timed(s.to_watermark(14)) == []
    assert timed(s.to_watermark(31)) == [("EARLY", (20,))]


def test_m15_event_time_periods_fire_at_the_end_and_for_late_rows() -> None:
    s = run(TEN, EveryEventTime(4), lateness=10)
    s.rows(*at(9))
    assert timed(s.to_watermark(10)) == [("ON_TIME", (9,))]
    assert timed(s.rows(*at(8, 7))) == [("LATE", (9, 8, 7))]
    assert timed(s.to_watermark(20)) == []


def test_m15_event_time_periods_with_nothing_new() -> None:
    once, again = (run(Tumble(100), EveryEventTime(5, repeat)) for repeat in (False, True))
    for s in (once, again):
        s.rows(*at(1))
    assert [len(once.to_watermark(w).panes) for w in (5, 10, 23, 25)] == [1, 0, 0, 0]
    assert [len(again.to_watermark(w).panes) for w in (5, 10, 23, 25)] == [1, 1, 1, 1]


@pytest.mark.parametrize(("combiner", "first", "second"), [("EARLIEST", 3, 6), ("LATEST", 4, 6)])
def test_m17_pane_timestamps_are_of_the_rows_since_the_last_pane(combiner: str, first: int, second: int) -> None:
    s = run(TEN, AfterWatermark(early=Repeat(AfterCount(2))), pane_timestamp=combiner, lateness=9)
    assert [p.timestamp for p in s.rows(*at(4, 3, 6)).panes] == [first]
    assert [p.timestamp for p in s.to_watermark(10).panes] == [second]
    assert [p.timestamp for p in s.rows(*at(5)).panes] == [9]


def test_m17_rows_behind_the_watermark_do_not_count() -> None:
    s = run(TEN, AfterWatermark(), pane_timestamp="EARLIEST")
    s.to_watermark(5)
    s.rows(*at(2, 5, 7))
    assert [p.timestamp for p in s.to_watermark(10).panes] == [5]


def test_m18_once_closes_the_group() -> None:
    s = run(TEN, AfterCount(2), once=True)
    step = s.rows(*at(1, 2, 3))
    assert [(p.values, p.last) for p in step.panes] == [((1, 2), True)]
    assert [row.ts for row in step.closed] == [3]
    assert not s.stored
    assert timed(s.to_watermark(10)) == []
    assert not len(s.state)


@pytest.mark.parametrize("trigger", [AfterWatermark(), AfterWatermark(early=Repeat(AfterCount(2)))])
def test_m18_once_after_watermark_finishes_at_its_on_time_pane(trigger: AfterWatermark) -> None:
    s = run(TEN, trigger, once=True, lateness=20)
    s.rows(*at(1))
    assert [(p.timing, p.last) for p in s.to_watermark(10).panes] == [("ON_TIME", True)]
    assert [row.ts for row in s.rows(*at(2)).closed] == [2]


def test_m18_once_without_window_is_for_ever() -> None:
    s = run(NO_WINDOW, AfterCount(2), once=True)
    s.rows(*at(1, 2))
    assert [row.ts for row in s.rows(*at(3)).closed] == [3]
    assert timed(s.end()) == []
    assert not len(s.state)


def test_m18_a_row_is_closed_only_if_all_its_windows_are() -> None:
    s = run(Hop(10, 5), AfterCount(2), once=True)
    s.rows(*at(6, 7))
    step = s.rows(*at(11))
    assert step.closed == []
    assert step.closed_windows == 1


def test_m19_no_window_ends_with_the_input() -> None:
    s = run(NO_WINDOW, Repeat(AfterCount(2)))
    assert [(p.window, p.timestamp) for p in s.rows(*at(1, 2)).panes] == [(None, None)]
    assert timed(s.end()) == []
    s = run(NO_WINDOW, Repeat(AfterCount(2)))
    s.rows(*at(1, 2, 3))
    assert timed(s.end()) == [("ON_TIME", (1, 2, 3))]
    asked = run(NO_WINDOW, Repeat(AfterCount(2)), on_time_pane="ALWAYS")
    asked.rows(*at(1, 2))
    assert timed(asked.end()) == [("ON_TIME", (1, 2))]


def test_m19_emptied_groups_are_forgotten_where_nobody_asks_for_their_index() -> None:
    for keep_index in (True, False):
        s = run(NO_WINDOW, Repeat(AfterCount(2)), mode="DISCARDING", keep_index=keep_index)
        s.rows(*at(1, 2))
        assert len(s.state) == keep_index


@pytest.mark.parametrize(("option", "expected"), [("reset", []), ("sticky", [(4,)])])
def test_m20_composites_under_early_start_afresh(option: Any, expected: list[Any]) -> None:
    trigger = AfterWatermark(early=AllOf((AfterCount(2), after(5))))
    s = run(TEN, trigger, mode="DISCARDING", options=Options(early_composite=option))
    s.rows(*at(1, 2))
    assert values(s.to_clock(5)) == [(1, 2)]
    assert values(s.rows(*at(4))) == expected


def test_rows_need_what_the_policy_asks_for() -> None:
    with pytest.raises(ValueError, match="rowtime"):
        run(TEN, AfterWatermark()).rows(Row("k", 1))
    with pytest.raises(ValueError, match="gap"):
        run(Session(None), AfterWatermark()).rows(*at(1))
    with pytest.raises(ValueError, match="greater than zero"):
        run(Session(None), AfterWatermark()).rows(Row("k", 1, 1, (), 0))
