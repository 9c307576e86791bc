"""Event times of a slice in few points: no row is lost, and the oldest are told apart best."""

from __future__ import annotations

import numpy as np
import pytest

from sqlext.sources.times import PLACES, Times, from_text

_RNG = np.random.default_rng(5)
_NOW = 1_700_000_000_000_000


def _late(rows: int) -> np.ndarray:
    late = np.where(_RNG.random(rows) < 0.02, _RNG.exponential(40e6, rows), _RNG.random(rows) * 1e6)
    return (_NOW + np.arange(rows) * 20 - late).astype(np.int64)


@pytest.mark.parametrize("rows", [1, 900, 70_000])
@pytest.mark.parametrize("batches", [1, 3, 40])
def test_how_many_are_older_than_a_time(rows: int, batches: int) -> None:
    times = [_late(rows) for _ in range(batches)]
    if rows > 1:
        times[0][0] -= 10**13  # one row that is months late must not blur the others
    found = Times()
    for some in times:
        found.take(some)
    every = np.sort(np.concatenate(times))
    span, whole = (int(every[0]), int(every[-1])), every // 1000
    short = from_text(found.text(PLACES, "s", rows * batches + 1, span))
    assert short["points"] == []
    text = found.text(PLACES - 1, "s", rows * batches + 1, span)
    told = from_text(text)
    points = told["points"]
    assert short == {**told, "points": []}
    assert (told["split"], told["rows"]) == ("s", rows * batches + 1)
    assert (told["smallest"], told["largest"]) == (whole[0], whole[-1])
    assert sum(p[2] for p in points) == len(whole)
    assert (points[0][0], max(p[1] for p in points)) == (whole[0], whole[-1])
    assert len(text) < 8000
    for seconds in (0.5, 2, 10, 60, 150):
        limit = _NOW // 1000 - seconds * 1000
        exact = int((whole <= limit).sum())
        least, most = (
            sum(n for _, last, n in points if last <= limit),
            sum(n for first, _, n in points if first <= limit),
        )
        assert least <= exact <= most
        if seconds > 1:
            assert most - least <= 0.25 * exact + 2


def test_nothing_is_nothing() -> None:
    found = Times()
    found.take(np.zeros(0, np.int64))
    told = from_text(found.text(0, "s", 3, (None, None)))
    assert told == {"split": "s", "rows": 3, "smallest": None, "largest": None, "points": []}
