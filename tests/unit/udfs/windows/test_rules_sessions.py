"""Sessions: what merges, what is late then, how triggers go on (EMIT.md M7, M10, section 9)."""

from __future__ import annotations

from typing import Any

import pytest
from panes import at, run, timed, values

from sqlext_udfs.windows.policy import Options, Session
from sqlext_udfs.windows.triggers.tree import AfterCount, AfterDelay, AfterWatermark, Delay, EachOf, EveryRow, Repeat
from tests.window_simulation import Row

TEN = Session(10)


@pytest.mark.parametrize(("option", "windows"), [("inclusive", [(1, 21)]), ("exclusive", [(1, 11), (11, 21)])])
def test_sessions_that_touch(option: Any, windows: list[tuple[int, int]]) -> None:
    for batches in ([at(1, 11)], [at(1), at(11)], [at(11), at(1)]):
        s = run(TEN, AfterWatermark(), options=Options(session_gap=option))
        for batch in batches:
            s.rows(*batch)
        assert [p.window for p in s.end().panes] == windows


def test_a_row_merges_all_that_it_touches() -> None:
    s = run(TEN, AfterWatermark())
    s.rows(*at(0, 30, 60))
    s.rows(*at(15))
    s.rows(*at(8, 22))
    assert [(p.window, p.values) for p in s.end().panes] == [((0, 40), (0, 30, 15, 8, 22)), ((60, 70), (60,))]


def test_keys_do_not_merge() -> None:
    s = run(TEN, AfterWatermark())
    s.rows(*at(0, key="a"), *at(5, key="b"))
    assert [(p.key, p.window) for p in s.end().panes] == [("a", (0, 10)), ("b", (5, 15))]


def test_m7_lateness_is_judged_after_the_merge() -> None:
    s = run(TEN, AfterWatermark())
    s.rows(*at(20))
    s.to_watermark(25)
    assert s.rows(*at(12)).late == []
    assert timed(s.to_watermark(30)) == [("ON_TIME", (20, 12))]


def test_m7_lateness_is_judged_after_the_merge_of_the_whole_batch() -> None:
    s = run(TEN, AfterWatermark())
    s.to_watermark(25)
    step = s.rows(*at(3, 12, 20))
    assert step.late == []
    assert timed(s.to_watermark(30)) == [("ON_TIME", (3, 12, 20))]
    assert [row.ts for row in s.rows(*at(5, 60)).late] == [5]


def test_m7_lateness_may_be_judged_before_the_merge() -> None:
    s = run(TEN, AfterWatermark(), options=Options(late_check="before_merge"))
    s.rows(*at(20))
    s.to_watermark(25)
    assert [row.ts for row in s.rows(*at(12, 16)).late] == [12]


def test_m10_the_index_restarts_when_the_bounds_change() -> None:
    s = run(TEN, EveryRow())
    panes = [p for batch in (at(0), at(5), at(2), at(3), at(30), at(22)) for p in s.rows(*batch).panes]
    assert [(p.window, p.index, p.before) for p in panes] == [
        ((0, 10), 0, False),
        ((0, 15), 0, False),
        ((0, 15), 1, True),
        ((0, 15), 2, True),
        ((30, 40), 0, False),
        ((22, 40), 0, False),
    ]


def test_m10_back_to_the_early_phase() -> None:
    s = run(TEN, AfterWatermark(early=Repeat(AfterCount(2)), late=EveryRow()), lateness=50, mode="DISCARDING")
    s.rows(*at(0))
    assert timed(s.to_watermark(10)) == [("ON_TIME", (0,))]
    assert timed(s.rows(*at(9))) == []
    assert timed(s.rows(*at(8))) == [("EARLY", (9, 8))]
    s.rows(*at(7))
    (pane,) = s.to_watermark(19).panes
    assert (pane.timing, pane.values, pane.spec) == ("ON_TIME", (7,), 0)


def test_m10_a_session_that_stays_behind_the_watermark_stays_late() -> None:
    s = run(TEN, AfterWatermark(late=EveryRow()), lateness=50, mode="DISCARDING")
    s.rows(*at(0))
    s.to_watermark(30)
    (pane,) = s.rows(*at(5)).panes
    assert (pane.timing, pane.window, pane.index) == ("LATE", (0, 15), 0)


def test_m10_the_earliest_deadline_stays() -> None:
    s = run(TEN, AfterDelay((Delay(10),)), mode="DISCARDING")
    s.step(at(0), now=0)
    s.step(at(15), now=4)
    s.step(at(8), now=6)
    assert values(s.to_clock(10)) == [(0, 15, 8)]
    assert values(s.to_clock(100)) == []


def test_m10_timestamps_merge() -> None:
    s = run(TEN, AfterWatermark(), pane_timestamp="EARLIEST")
    s.rows(*at(9))
    s.rows(*at(3))
    assert [p.timestamp for p in s.end().panes] == [3]


def test_each_of_on_sessions_counts_in_parallel() -> None:
    s = run(TEN, EachOf((AfterCount(1), AfterCount(3))), mode="DISCARDING")
    assert values(s.rows(*at(0, 1, 2, 3, 4))) == [(0,), (1, 2, 3), (4,)]


def test_once_on_sessions_drops_what_belongs_to_a_closed_one() -> None:
    s = run(TEN, AfterCount(2), once=True)
    assert values(s.rows(*at(0, 1))) == [(0, 1)]
    step = s.rows(*at(8, 16, 40))
    assert [row.ts for row in step.closed] == [8, 16]
    assert [(p.window, p.values) for p in s.rows(*at(41)).panes] == [((40, 51), (40, 41))]
    s.to_watermark(26)
    assert len(s.state) == 1


def test_once_on_sessions_open_ones_come_first() -> None:
    s = run(TEN, AfterCount(2), once=True)
    s.rows(*at(0, 1, 20))
    step = s.rows(*at(11))
    assert step.closed == []
    assert [(p.window, p.values) for p in step.panes] == [((11, 30), (20, 11))]


def test_once_on_sessions_is_forgotten_where_the_own_window_counts() -> None:
    s = run(TEN, AfterCount(2), once=True, options=Options(late_check="before_merge"))
    assert values(s.rows(*at(0, 1))) == [(0, 1)]
    assert not len(s.state)
    assert s.rows(*at(2)).closed == []
    assert values(s.rows(*at(3))) == [(2, 3)]


def test_a_gap_per_row() -> None:
    s = run(Session(None), AfterWatermark())
    s.rows(Row("k", 1, 0, (), 3), Row("k", 2, 4, (), 20), Row("k", 3, 22, (), 1), Row("k", 4, 30, (), 1))
    assert [(p.window, p.values) for p in s.end().panes] == [((0, 3), (1,)), ((4, 24), (2, 3)), ((30, 31), (4,))]


def test_sessions_of_the_clock() -> None:
    s = run(TEN, AfterWatermark(), processing_time=True)
    s.step(at(500), now=0)
    s.step(at(501), now=7)
    assert timed(s.to_clock(16)) == []
    (pane,) = s.to_clock(17).panes
    assert (pane.window, pane.values, pane.timing) == ((0, 17), (500, 501), "ON_TIME")
