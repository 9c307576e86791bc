"""Idle inputs, alignment, ends of bounded inputs and restarts, with times in minutes since 12:00."""

from __future__ import annotations

import pytest

from sqlext.watermarks.ends import Ends, RowEnds, SessionEnd
from sqlext.watermarks.inputs import END_OF_TIME, Alignment, Input
from sqlext.watermarks.keeper import Seen, TimeKeeper
from sqlext.watermarks.report import TimeReport

MINUTE = 60_000


def row(minute: float, split: str = "") -> Seen:
    return Seen(int(minute * MINUTE), 1, split)


def two(**options: object) -> TimeKeeper:
    return TimeKeeper([Input("a", delay=MINUTE, idle=5 * MINUTE), Input("b", idle=2 * MINUTE, **options)], 0)  # type: ignore[arg-type]


def test_an_input_without_rows_holds_the_watermark_back_until_it_is_idle() -> None:
    keeper = two()
    keeper.saw("a", [row(10)], MINUTE)
    assert keeper.decide(MINUTE).beats == {}
    assert keeper.watermark is None
    assert keeper.decide(2 * MINUTE).beats == {"b": 9 * MINUTE}
    assert keeper.watermark == 9 * MINUTE


def test_an_idle_input_follows_and_wakes_up() -> None:
    keeper = two()
    keeper.saw("b", [row(3)], 0)
    keeper.saw("a", [row(10)], 0)
    keeper.decide(0)
    assert keeper.watermark == 3 * MINUTE
    assert keeper.decide(2 * MINUTE).beats == {"b": 9 * MINUTE}
    keeper.saw("a", [row(20)], 3 * MINUTE)
    assert keeper.decide(3 * MINUTE).beats == {"b": 19 * MINUTE}
    assert keeper.decide(3 * MINUTE).beats == {}
    keeper.saw("b", [row(12)], 4 * MINUTE)
    keeper.saw("a", [row(30)], 4 * MINUTE)
    assert keeper.decide(4 * MINUTE).beats == {}
    assert keeper.watermark == 19 * MINUTE  # where it was: it does not go back, and b counts again


def test_when_all_are_idle_the_furthest_counts() -> None:
    keeper = two()
    keeper.saw("b", [row(3)], 0)
    keeper.saw("a", [row(10)], 0)
    assert keeper.decide(10 * MINUTE).beats == {"b": 9 * MINUTE}


def test_an_input_without_timeout_is_never_idle() -> None:
    keeper = TimeKeeper([Input("a", idle=MINUTE), Input("b")], 0)
    keeper.saw("a", [row(10)], 0)
    assert keeper.decide(100 * MINUTE).beats == {}
    assert keeper.watermark is None


def test_partitions_have_a_time_of_their_own() -> None:
    keeper = TimeKeeper([Input("k", idle=MINUTE, by_rows=False)], 0)
    keeper.saw("k", [row(5, "0"), row(3, "1"), Seen(None, 0, "2")], 0)
    assert keeper.decide(0).beats == {}  # partition 2 has said nothing yet
    keeper.saw("k", [row(6, "0"), row(4, "1")], MINUTE)
    assert keeper.decide(MINUTE).beats == {"k": 4 * MINUTE}
    keeper.saw("k", [row(7, "0")], 2 * MINUTE)
    assert keeper.decide(2 * MINUTE).beats == {"k": 7 * MINUTE}  # 1 is idle too
    silent = [s["split"] for s in TimeReport.of(keeper).rows() if s["idle_since"] is not None]
    assert silent == ["1", "2"]


def test_periodic_watermarks_are_not_more_often_than_their_interval() -> None:
    keeper = TimeKeeper([Input("a", interval=10_000, by_rows=False)], 0)
    keeper.saw("a", [row(1)], 0)
    assert keeper.decide(0).beats == {"a": MINUTE}
    keeper.saw("a", [row(2)], 5_000)
    assert keeper.decide(5_000).beats == {}
    assert keeper.decide(10_000).beats == {"a": 2 * MINUTE}


# The idle timeout table of the Atlas document: 3-minute windows, timeout 1 minute. (processing time, row, watermark)
ATLAS = [
    (0, 0, 0),
    (1, None, 0),
    (2, None, 0),
    (3, None, 0),
    (4, 2, 2),
    (5, 5, 5),
    (6, None, 5),
    (7, None, 6),
    (8, None, 6),
    (9, 9, 9),
]


def test_the_clock_closes_windows_of_a_silent_source_as_in_atlas() -> None:
    silent = Input("a", idle=MINUTE, closes=True, ends=(Ends(3 * MINUTE),))
    keeper = TimeKeeper([silent], 0)
    for clock, event, watermark in ATLAS:
        if event is not None:
            keeper.saw("a", [row(event)], clock * MINUTE)
        keeper.decide(clock * MINUTE)
        assert keeper.watermark == watermark * MINUTE, clock


def test_the_clock_closes_nothing_unless_it_is_asked_to() -> None:
    keeper = TimeKeeper([Input("a", idle=MINUTE, ends=(Ends(3 * MINUTE),))], 0)
    keeper.saw("a", [row(5)], 5 * MINUTE)
    assert keeper.decide(60 * MINUTE).beats == {}


def test_the_clock_closes_the_newest_session() -> None:
    keeper = TimeKeeper([Input("a", idle=MINUTE, closes=True, ends=(SessionEnd(10 * MINUTE),))], 0)
    keeper.saw("a", [row(5)], 5 * MINUTE)
    assert keeper.decide(15 * MINUTE).beats == {}
    assert keeper.decide(16 * MINUTE).beats == {"a": 15 * MINUTE}
    assert keeper.decide(90 * MINUTE).beats == {}


def test_the_clock_closes_windows_that_may_end_anywhere() -> None:
    """Each minute it closes those that have ended, until all windows with rows have; no end is told before."""
    keeper = TimeKeeper([Input("a", idle=MINUTE, closes=True, ends=(RowEnds(3 * MINUTE),))], 0)
    keeper.saw("a", [row(5.5)], 5 * MINUTE)
    assert keeper.decide(5 * MINUTE).beats == {}
    assert keeper.decide(int(7.2 * MINUTE)).beats == {"a": 6 * MINUTE}
    assert keeper.decide(int(7.9 * MINUTE)).beats == {}
    assert TimeReport.of(keeper).end is None
    assert keeper.decide(60 * MINUTE).beats == {"a": int(8.5 * MINUTE)}
    assert keeper.decide(90 * MINUTE).beats == {}


def test_windows_by_a_zones_wall_clock_end_where_it_says() -> None:
    day = Ends(86_400_000, zone="America/New_York")
    march = 1_710_054_000_000  # 2024-03-10 07:00 UTC, the day of 23 hours
    assert day.after(march, 0) == 1_710_129_600_000  # 2024-03-11 04:00 UTC
    assert day.until(march, 0) == 1_710_046_800_000  # 2024-03-10 05:00 UTC


def test_who_runs_ahead_is_held_back_and_is_not_idle() -> None:
    group = Alignment("g", 5 * MINUTE)
    keeper = TimeKeeper([Input("a", idle=MINUTE, alignment=group), Input("b", idle=MINUTE, alignment=group)], 0)
    keeper.saw("a", [row(60)], 0)
    assert keeper.decide(0).held == {"a": frozenset(), "b": frozenset()}  # b has not said anything
    keeper.saw("b", [row(1)], 1000)
    assert keeper.decide(1000).held == {"a": frozenset({""}), "b": frozenset()}
    keeper.saw("b", [row(56)], 10 * MINUTE)
    assert keeper.decide(10 * MINUTE).held == {"a": frozenset(), "b": frozenset()}
    assert not keeper.known["a"].idle


def test_partitions_are_held_back_one_by_one() -> None:
    group = Alignment("g", MINUTE)
    keeper = TimeKeeper([Input("k", by_rows=False, alignment=group)], 0)
    keeper.saw("k", [row(5, "0"), row(3, "1"), row(4, "2")], 0)
    keeper.decide(0)
    assert keeper.decide(1000).held == {"k": frozenset({"0"})}


def test_a_bounded_input_that_is_through_holds_nobody_back() -> None:
    keeper = TimeKeeper([Input("a"), Input("b", bounded=True)], 0)
    keeper.saw("a", [row(10)], 0)
    keeper.saw("b", [row(1)], 0)
    assert keeper.decide(0).beats == {}
    keeper.ended("b")
    assert keeper.decide(1).beats == {"b": END_OF_TIME}
    assert keeper.watermark == 10 * MINUTE


def test_a_restart_keeps_the_place() -> None:
    keeper = two()
    keeper.saw("b", [row(3)], 0)
    keeper.saw("a", [row(10)], 0)
    keeper.decide(3 * MINUTE)
    again = TimeKeeper(keeper.inputs, 100 * MINUTE, keeper.to_json())
    assert again.watermark == 9 * MINUTE
    # Spark has forgotten how far each input was; b is idle still, a has its timeout before it.
    assert again.decide(100 * MINUTE).beats == {"a": 9 * MINUTE, "b": 9 * MINUTE}
    assert again.known["b"].idle
    assert not again.known["a"].idle
    assert again.decide(101 * MINUTE).beats == {}


@pytest.mark.parametrize("time", [0, 1, 2999, 3000, 3001, -1, -3000, -2999])
def test_ends_lie_around_a_time(time: int) -> None:
    ends = Ends(3000, offset=1000)
    before, after = ends.until(time, 0), ends.after(time, 0)
    assert before is not None
    assert after is not None
    assert before <= time < after == before + 3000
    assert (before - 1000) % 3000 == 0
