"""What the keeper tells people: who is how far, who waits for whom, which window is next. Minutes since 1970."""

from __future__ import annotations

import pytest

from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.source import SourceText
from sqlext.watermarks.ends import Ends, SessionEnd
from sqlext.watermarks.inputs import Alignment, Input
from sqlext.watermarks.keeper import Seen, TimeKeeper
from sqlext.watermarks.report import InputReport, TimeReport

MINUTE = 60_000
TENS = (Ends(10 * MINUTE),)


def row(minute: float, split: str = "", first: float | None = None) -> Seen:
    return Seen(int(minute * MINUTE), 1, split, int((minute if first is None else first) * MINUTE))


def inputs(report: TimeReport) -> dict[str, InputReport]:
    return {i.name: i for i in report.inputs}


def test_the_next_window_and_who_must_reach_what() -> None:
    keeper = TimeKeeper([Input("a", delay=MINUTE, ends=TENS), Input("b", delay=2 * MINUTE, idle=5 * MINUTE)], 0)
    keeper.saw("a", [row(12)], 0)
    keeper.saw("b", [row(4)], MINUTE)
    keeper.decide(MINUTE)
    report = TimeReport.of(keeper)
    a, b = report.inputs
    assert (report.watermark, report.end) == (2 * MINUTE, 20 * MINUTE)  # no row is older than minute 12
    assert (a.needed, b.needed) == (21 * MINUTE, 22 * MINUTE)
    assert [(r["input"], r["holds"]) for r in report.rows()] == [("a", False), ("b", True)]
    assert b.splits[0].idle_after == 6 * MINUTE
    assert report.closes_at is None


def test_before_there_is_a_watermark_the_first_row_says_which_window_is_next() -> None:
    keeper = TimeKeeper([Input("a", delay=MINUTE, ends=TENS), Input("b", ends=TENS)], 0)
    assert TimeReport.of(keeper).end is None
    keeper.saw("a", [row(35, first=12)], 0)
    keeper.decide(0)
    report = TimeReport.of(keeper)
    assert (report.watermark, report.end) == (None, 20 * MINUTE)
    assert [(i.needed, [s.holds for s in i.splits]) for i in report.inputs] == [(None, [False]), (20 * MINUTE, [True])]


def test_sessions_and_windows_that_the_clock_closes() -> None:
    keeper = TimeKeeper([Input("a", idle=3 * MINUTE, closes=True, ends=(SessionEnd(5 * MINUTE),))], 0)
    keeper.saw("a", [row(12)], 0)
    keeper.decide(0)
    report = TimeReport.of(keeper)
    assert (report.end, report.session, report.closes_at) == (17 * MINUTE, True, 20 * MINUTE)


def test_one_silent_split_holds_all_back() -> None:
    keeper = TimeKeeper([Input("k", idle=5 * MINUTE, ends=TENS)], 0)
    keeper.saw("k", [row(30, "0"), row(4, "1"), row(20, "2")], 0)
    keeper.decide(0)
    assert [r["split"] for r in TimeReport.of(keeper).rows() if r["holds"]] == ["1"]
    keeper.saw("k", [row(31, "0"), row(21, "2")], 4 * MINUTE)
    keeper.decide(5 * MINUTE)
    rows = {r["split"]: r for r in TimeReport.of(keeper).rows()}
    assert {s: (r["idle_since"], r["holds"]) for s, r in rows.items()} == {
        "0": (None, False),
        "1": (0, False),
        "2": (None, True),
    }


def test_who_is_held_back_by_whom() -> None:
    group = Alignment("g", 5 * MINUTE)
    keeper = TimeKeeper([Input("a", alignment=group), Input("b", alignment=group), Input("c", alignment=group)], 0)
    for name, minute in (("a", 60), ("b", 3), ("c", 2)):
        keeper.saw(name, [row(minute)], 0)
    keeper.decide(0)
    found = inputs(TimeReport.of(keeper))
    assert {n: (i.leader, i.splits[0].held) for n, i in found.items()} == {
        "a": ("c", True),
        "b": (None, False),
        "c": (None, False),
    }


def test_a_report_survives_json_and_its_moment_does_not_count() -> None:
    keeper = TimeKeeper([Input("a", idle=MINUTE, ends=TENS, zone="Europe/Berlin"), Input("b")], 0)
    keeper.saw("a", [row(12), row(13, "1")], 0)
    keeper.decide(0)
    report = TimeReport.of(keeper)
    assert TimeReport.from_json(report.to_json()) == report
    keeper.decide(1)
    assert TimeReport.of(keeper) == report
    assert TimeReport.of(keeper).at == 1


@pytest.mark.parametrize(("kind", "zone"), [("TIMESTAMP(3)", "UTC"), ("TIMESTAMP_LTZ(3)", "Asia/Tokyo")])
def test_times_are_shown_as_their_rowtime_is(kind: str, zone: str) -> None:
    text = f"""SET 'table.local-time-zone' = 'Asia/Tokyo';
        CREATE TABLE t (ts {kind}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem',
        'path' = '/in', 'format' = 'json', 'source.monitor-interval' = '1 s');
        SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end"""
    *_, (_, (compiled,)) = compile_source(SourceText.of(text), new_state(None))
    (kept,) = compiled.script.kept
    assert (kept.input.zone, kept.input.delay) == (zone, 5000)
