"""Changes and standing rows of a SELECT, batch by batch."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Row

from sqlext.sinks.base import SinkContext
from sqlext.sinks.live_rows import LiveRows, StandingRows

KEYED = SinkContext("q", "1", keys=("k",), exists="__exists")
CHANGELOG = SinkContext("q", "1", kind="__kind")


def keyed(k: str, n: int, exists: bool = True) -> Row:
    return Row(k=k, n=n, __exists=exists)


def change(kind: int, n: int) -> Row:
    return Row(n=n, __kind=kind)


def live(context: SinkContext, width: int, *batches: list[Row], folds: bool = True) -> LiveRows:
    return LiveRows(dict(enumerate(batches)), StandingRows(context, width, folds))


def test_rows_that_only_come() -> None:
    rows = live(SinkContext("q", "1"), 1, [Row(a=1, hidden=9)], [Row(a=1, hidden=9)])
    assert rows.take() == [("+I", (1,)), ("+I", (1,))]
    assert rows.rows == [(1,), (1,)]


def test_rows_in_place_of_each_other() -> None:
    rows = live(KEYED, 2, [keyed("a", 1), keyed("b", 1)], [keyed("a", 2), keyed("b", 1)], [keyed("b", 1, exists=False)])
    assert rows.take() == [
        ("+I", ("a", 1)), ("+I", ("b", 1)), ("-U", ("a", 1)), ("+U", ("a", 2)), ("-D", ("b", 1)),
    ]  # fmt: skip
    assert rows.rows == [("a", 2)]


def test_a_row_that_was_never_there_cannot_go() -> None:
    assert live(KEYED, 2, [keyed("a", 1, exists=False)]).take() == []


def test_panes_are_kept_beside_each_other() -> None:
    rows = live(KEYED, 2, [keyed("a", 1), keyed("a", 2), keyed("a", 2, exists=False)], folds=False)
    assert rows.take() == [("+I", ("a", 1)), ("+I", ("a", 2))]
    assert rows.rows == [("a", 1), ("a", 2)]


def test_a_changelog() -> None:
    rows = live(CHANGELOG, 1, [change(0, 1), change(0, 1), change(1, 1), change(2, 2)], [change(3, 1)])
    assert rows.take() == [("+I", (1,)), ("+I", (1,)), ("-U", (1,)), ("+U", (2,)), ("-D", (1,))]
    assert rows.rows == [(2,)]


def test_each_batch_is_taken_once_however_late_it_comes() -> None:
    batches: dict[int, list[Any]] = {1: [Row(a=1)]}
    rows = LiveRows(batches, StandingRows(SinkContext("q", "1"), 1))
    assert rows.take() == [("+I", (1,))]
    assert rows.take() == []
    batches[2] = [Row(a=2)]
    assert rows.take() == [("+I", (2,))]
    assert rows.rows == [(1,), (2,)]
