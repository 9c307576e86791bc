"""The file of samples: what is written, what is left out, that it stays short."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from sqlext.stores.location import Location
from sqlext.watermarks.history import DENSE, LONGEST, MOST, History, OperatorState, Sample, samples
from sqlext.watermarks.inputs import Alignment, Input
from sqlext.watermarks.keeper import Seen, TimeKeeper
from sqlext.watermarks.report import TimeReport


def sample(at: int, rows: int = 0) -> Sample:
    return Sample(at, None, {"a": (rows, "active")}, 0, rows, 0, 0, 0)


def test_what_says_nothing_new_is_left_out_and_what_comes_too_fast_waits(tmp_path: Path) -> None:
    kept = History(Location.of(tmp_path))
    for at, rows in ((0, 1), (200, 1), (400, 2), (600, 3), (1200, 4), (5000, 4), (9000, 5), (9100, 6)):
        kept.take(sample(at, rows))
    assert [(s.at, s.rows_in) for s in samples(Location.of(tmp_path))] == [(0, 1), (600, 3), (1200, 4), (9000, 5)]
    kept.flush()
    assert [(s.at, s.rows_in) for s in samples(Location.of(tmp_path))][-1] == (9100, 6)


def test_a_day_is_kept_over_restarts_and_thinned(tmp_path: Path) -> None:
    """Of 30 hours with a sample each 30 s, the last 24 stay: all of a quarter of an hour, before that one a minute."""
    hour, step, operator = 3_600_000, 30_000, OperatorState(1, 2, 3, 4)
    for start in range(0, 30 * hour, 3 * hour):
        kept = History(Location.of(tmp_path))
        for at in range(start, start + 3 * hour, step):
            kept.take(replace(sample(at, at), operators=(operator,)))
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) <= MOST + 1000
    found = samples(Location.of(tmp_path))
    newest = found[-1].at
    late = [s for s in found if s.at >= newest - DENSE]
    assert (newest, len(late)) == (30 * hour - step, DENSE // step + 1)
    early = found[: -len(late)]
    assert newest - early[0].at <= LONGEST < newest - early[0].at + 60_000
    assert {b.at - a.at for a, b in itertools.pairwise(early[:-1])} == {60_000}  # the newest minute is not over
    assert {s.operators for s in early} == {()}
    assert found[-1].operators == (operator,)


def test_lines_that_were_cut_off_or_are_of_another_version_do_not_count(tmp_path: Path) -> None:
    kept = History(Location.of(tmp_path))
    kept.take(sample(0, 1))
    path = tmp_path / "history.jsonl"
    others = '[]\n{"at": 1}\n' + path.read_text().replace('"open"', '"unknown"')
    path.write_text(path.read_text() + others + '{"at": 1')
    assert samples(Location.of(tmp_path)) == [sample(0, 1)]
    for at in (0, 1000):
        History(Location.of(tmp_path)).take(sample(at, 2))
    assert [s.at for s in samples(Location.of(tmp_path))] == [0, 1000]  # the first of them shares its line
    assert samples(Location.of(tmp_path / "nowhere")) == []


def test_a_sample_says_who_is_idle_held_or_through() -> None:
    group = Alignment("g", 1000)
    inputs = [Input("a", alignment=group), Input("b", alignment=group), Input("c", idle=1000), Input("d", bounded=True)]
    keeper = TimeKeeper(inputs, 0)
    keeper.saw("a", [Seen(60_000, 1)], 0)
    keeper.saw("b", [Seen(0, 1)], 0)
    keeper.ended("d")
    keeper.decide(5000)
    counts = {"rows_in": 2, "rows_out": 1, "rows_late": 0, "rows_dropped": 0, "state_rows": 7}
    found = Sample.of(0, TimeReport.of(keeper), counts)
    assert {n: state for n, (_, state) in found.inputs.items()} == {
        "a": "held",
        "b": "active",
        "c": "idle",
        "d": "ended",
    }
    assert (found.at, found.open, found.rows_in) == (5000, 7, 2)
