"""What the keeper of a query's time takes when the query has ended."""

from __future__ import annotations

from pathlib import Path

from sqlext.jobs.progress import InputCounts, InputsRead
from sqlext.jobs.timekeeping import ProcessingClock, Timekeeping, read_report
from sqlext.rewrite.script.model import KeptInput
from sqlext.stores.location import Location
from sqlext.watermarks.inputs import Input

NAME = "orders"
FIRST = InputCounts(largest=5_000, rows=3, batches=1, last_rows=3)
SECOND = InputCounts(largest=9_000, rows=7, batches=2, last_rows=4)


def read(counts: InputCounts) -> InputsRead:
    return InputsRead({NAME: {"": counts}}, ())


def keeping(folder: Path, *, by_rows: bool = True) -> Timekeeping:
    kept = KeptInput(Input(NAME, delay=1_000, by_rows=by_rows), "beats", "source")
    return Timekeeping(Location.of(folder), [kept], ProcessingClock())


def test_the_last_micro_batch_counts_though_nobody_looked(tmp_path: Path) -> None:
    kept = keeping(tmp_path)
    kept.look(read(FIRST), resting=False)
    kept.settle(read(SECOND))
    (row,) = kept.report.rows()
    assert (row["rows"], row["largest"]) == (7, 9_000)
    assert row["watermark"] == 4_000, "no micro-batch follows that would see another"
    assert read_report(Location.of(tmp_path)) == kept.report


def test_what_was_seen_is_not_taken_twice(tmp_path: Path) -> None:
    kept = keeping(tmp_path)
    for _ in range(2):
        kept.look(read(SECOND), resting=True)
        kept.settle(read(SECOND))
    assert [row["rows"] for row in kept.report.rows()] == [7]


def test_nothing_follows_from_an_end(tmp_path: Path) -> None:
    kept = keeping(tmp_path)
    kept.settle(read(FIRST))
    assert kept.looks == 0
    assert [f.name for f in tmp_path.rglob("*") if f.is_file()] == ["keeper.json"]


def test_the_last_heartbeats_stay(tmp_path: Path) -> None:
    """Also of those that a driver left which removed none."""
    for watermark in range(-50, 200):
        Location.of(tmp_path).put(f"0/{watermark}.txt", "")
    kept = keeping(tmp_path, by_rows=False)
    for number in range(1, 120):
        counts = InputCounts(largest=1_000 * number, rows=number, batches=number, last_rows=1)
        kept.look(read(counts), resting=True)
        beats = sorted(int(path.stem) for path in (tmp_path / "0").iterdir())
        assert len(beats) == 100
        assert 1_000 * (number - 1) in beats
    assert beats == [1_000 * number for number in range(19, 119)]
