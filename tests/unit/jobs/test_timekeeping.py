"""What the keeper of a query's time takes when the query has ended."""

from __future__ import annotations

from pathlib import Path

from sqlext.connectors.moments import ProcessingClock
from sqlext.jobs.progress import InputCounts, InputsRead
from sqlext.jobs.timekeeping import Timekeeping, read_report
from sqlext.rewrite.script.model import KeptInput
from sqlext.stores.location import Location
from sqlext.watermarks.inputs import Input

NAME = "orders"
FIRST = InputCounts(largest=5_000, rows=3, batches=1, last_rows=3)
SECOND = InputCounts(largest=9_000, rows=7, batches=2, last_rows=4)


def read(counts: InputCounts) -> InputsRead:
    return InputsRead({NAME: {"": counts}}, ())


def keeping(folder: Path) -> Timekeeping:
    return Timekeeping(Location.of(folder), [KeptInput(Input(NAME, delay=1_000), "beats", "source")], ProcessingClock())


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
