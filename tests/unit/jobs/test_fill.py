"""A fill is cut where the micro-batches of the old version had another watermark, as far as they are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext.jobs.alongside import ReachedBatch, first_cut, next_cut, plan_as
from sqlext.jobs.checkpoint import QueryHome

#: Of each micro-batch of the old version: its watermark, and where it ends.
BATCHES = [(0, 1), (0, 2), (5, 2), (5, 3), (5, 4), (5, 5), (9, 5), (9, 6)]


def written(home: QueryHome, number: int, watermark: int, end: int) -> None:
    settings = json.dumps({"batchWatermarkMs": watermark, "batchTimestampMs": 0, "conf": {}})
    home.location.put(f"checkpoint/offsets/{number}", f"v1\n{settings}\n{json.dumps({'logOffset': end})}")
    done(home, number, watermark)


def done(home: QueryHome, number: int, watermark: int) -> None:
    home.location.put(f"checkpoint/commits/{number}", f"v1\n{json.dumps({'nextBatchWatermarkMs': watermark})}")


def filled(folder: Path, *, alike: bool, forgotten: int = 0) -> list[tuple[int, int]]:
    """Return watermark and end of each micro-batch of a fill."""
    old, new = (QueryHome(folder, name, looks=True) for name in ("old", "new"))
    for number, (watermark, end) in enumerate(BATCHES):
        if number >= forgotten:
            written(old, number, watermark, end)
    for home in (old, new):
        home.note_own_sources([])
    there = ReachedBatch(old, len(BATCHES) - 1)
    first = first_cut(there)
    written(new, 0, 0, -1)
    plan_as(first, new, watermark=False)
    done(new, 1, 0)
    cuts = [(0, BATCHES[first.batch][1])]
    while (cut := next_cut(there, new, alike=alike)) is not None:
        plan_as(cut, new, watermark=alike)
        done(new, len(cuts) + 1, 0)
        cuts.append(BATCHES[cut.batch])
    return cuts


def test_each_watermark_is_met_again(tmp_path: Path) -> None:
    """Micro-batches in a row are one where rows of them are late by the same watermark."""
    assert filled(tmp_path, alike=True) == [(0, 1), (0, 2), (5, 2), (5, 5), (9, 5), (9, 6)]


def test_another_watermark_of_its_own(tmp_path: Path) -> None:
    assert [end for _, end in filled(tmp_path, alike=False)] == [1, 2, 5, 6]


@pytest.mark.parametrize(("forgotten", "left"), [(3, [(0, 3), (5, 3), (5, 5), (9, 5), (9, 6)]), (7, [(0, 6), (9, 6)])])
def test_what_is_forgotten_is_read_at_once_and_then_judged(
    forgotten: int, left: list[tuple[int, int]], tmp_path: Path
) -> None:
    assert filled(tmp_path, alike=True, forgotten=forgotten) == left


def test_places_of_other_sources_are_no_cuts(tmp_path: Path) -> None:
    """A query that was scheduled before had fewer sources of its own."""
    old = QueryHome(tmp_path, "old", looks=True)
    for number, (watermark, end) in enumerate(BATCHES):
        written(old, number, watermark, end)
    for number in range(4, len(BATCHES)):
        key = f"checkpoint/offsets/{number}"
        old.location.put(key, f"{old.location.text(key)}\n-")
    assert first_cut(ReachedBatch(old, len(BATCHES) - 1)).batch == 4
