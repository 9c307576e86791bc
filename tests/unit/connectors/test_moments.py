"""What a place of a query says of time beside its splits, and what a micro-batch is told by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext.connectors import moments
from sqlext.connectors.moments import (
    CLOCK,
    GIVEN,
    WATERMARK,
    FixedTime,
    Ticks,
    TimeMessage,
    TimeWithRows,
    heartbeat,
    heartbeat_key,
    moment_between,
)
from sqlext.connectors.places import moved_line, place_of_rows
from sqlext.stores.location import Location


def _clock(folder: Path, *times: int) -> None:
    folder.mkdir(exist_ok=True)
    for time in times:
        (folder / str(time)).write_text(f"{time}\n")


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A clock of the machine that stands where a test puts it, in ms."""
    held = {"ms": 5_400}
    monkeypatch.setattr(moments.time, "time_ns", lambda: held["ms"] * 1_000_000)
    return held


def test_a_clock_that_runs_ticks_with_each_second(now: dict[str, int]) -> None:
    ticks = Ticks(runs=True)
    assert ticks.due(None) == 5_400
    now["ms"] = 5_999
    assert ticks.due(5_400) is None
    now["ms"] = 6_010
    assert ticks.due(5_400) == 6_010
    now["ms"] = 4_000  # it was set back
    assert ticks.due(6_010) is None


def test_a_clock_that_stands_still_ticks_once(now: dict[str, int]) -> None:
    ticks = Ticks(runs=False)
    assert ticks.due(None) == 5_400
    now["ms"] = 60_000
    assert ticks.due(5_400) is None


@pytest.mark.parametrize("runs", [True, False])
def test_a_clock_of_files_ticks_when_it_has_moved(tmp_path: Path, runs: bool) -> None:
    ticks = Ticks(runs, str(tmp_path / "clock"))
    assert ticks.due(None) is None, "it has not begun"
    _clock(tmp_path / "clock", 0)
    assert ticks.due(None) == 0
    _clock(tmp_path / "clock", 7, 3)
    assert ticks.due(0) == 7
    assert ticks.due(7) is None
    _clock(tmp_path / "clock", 8)
    assert ticks.due(7) == 8


def test_the_last_heartbeat_stays_until_another_one_is_given(tmp_path: Path, now: dict[str, int]) -> None:
    time = TimeWithRows(Location.of(tmp_path), 2)
    assert time.at({"files": 3}) == {}
    time.time.put(heartbeat_key(2), heartbeat(4_000))
    told = time.at({"files": 3})
    assert told == {WATERMARK: 4_000, GIVEN: 5_400}
    assert moment_between({"files": 3}, {"files": 3, **told}) == TimeMessage(4_000)
    assert moment_between({"files": 3, **told}, {"files": 4, **time.at(told)}) is None
    # A keeper that starts again gives what it knows once more: to Spark the input is new.
    now["ms"] = 9_000
    time.time.put(heartbeat_key(2), heartbeat(4_000))
    assert moment_between(told, time.at(told)) == TimeMessage(4_000)


def test_heartbeats_and_ticks_come_together_or_alone(tmp_path: Path, now: dict[str, int]) -> None:
    time = TimeWithRows(Location.of(tmp_path), 0, Ticks(runs=True))
    first = time.at({})
    assert (first, moment_between({}, first)) == ({CLOCK: 5_400}, TimeMessage(None, 5_400))
    time.time.put(heartbeat_key(0), heartbeat(1_000))
    second = time.at(first)
    assert moment_between(first, second) == TimeMessage(1_000, None)
    now["ms"] = 7_000
    third = time.at(second)
    assert moment_between(second, third) == TimeMessage(None, 7_000)
    assert moment_between(first, third) == TimeMessage(1_000, 7_000)
    assert moment_between({}, FixedTime(third).at({})) == TimeMessage(1_000, 7_000)


def test_who_asks_for_no_heartbeats_gets_none(tmp_path: Path) -> None:
    Location.of(tmp_path).put(heartbeat_key(0), heartbeat(1_000))
    assert TimeWithRows(Location.of(tmp_path), None, Ticks(True, str(tmp_path / "clock"))).at({}) == {}


def test_rows_are_found_without_what_is_said_of_time() -> None:
    line = json.dumps({"rows-0": 7, WATERMARK: 5, GIVEN: 6})
    assert place_of_rows(line) == {"rows-0": 7}
    assert json.loads(moved_line(line)) == {"rows-0": 7}
    assert json.loads(moved_line(line, json.dumps({"rows-0": 3, CLOCK: 9}))) == {"rows-0": 7, CLOCK: 9}
    for other in ('{"logOffset":3}', "-", "12"):
        assert moved_line(other) == other
    assert place_of_rows("-") is None
