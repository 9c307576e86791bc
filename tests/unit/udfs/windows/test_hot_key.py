"""One key that has all rows, in one batch: the work grows with the rows, not with their square."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.groups.engine import WindowEngine
from sqlext_udfs.windows.panes.rows import ElementRows
from sqlext_udfs.windows.policy import Policy, Session, Tumble, WindowKind
from sqlext_udfs.windows.triggers.moment import MIN
from sqlext_udfs.windows.triggers.tree import AfterWatermark

GAP = 10


def work(window: WindowKind, batches: Sequence[Sequence[int]]) -> int:
    """Return how many calls Python makes for rows of one key, given their event times."""
    engine = WindowEngine(Policy(window, AfterWatermark()))
    state, calls = engine.empty(), 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for times in batches:
            state = engine.step(state, rows_at(times), Clock(MIN, MIN, 0)).state
        ended = engine.step(state, rows_at([]), Clock(Clock.END, MIN, 0))
    finally:
        sys.setprofile(None)
    assert len(ended.panes) >= 1
    return calls


def rows_at(times: Sequence[int]) -> ElementRows:
    """Return rows of one key."""
    return ElementRows(np.zeros(len(times), np.int64), np.array(times, np.int64), values=(), gap=None)


def shuffled(rows: int, step: int) -> list[int]:
    """Return event times in any order, always the same one."""
    times = [number * step for number in range(rows)]
    Random(7).shuffle(times)
    return times


@pytest.mark.parametrize("window", [Tumble(GAP), Session(GAP)], ids=["tumble", "session"])
@pytest.mark.parametrize("step", [GAP - 1, GAP * 2], ids=["one window grows", "each row has its own"])
def test_one_batch(window: WindowKind, step: int) -> None:
    few, many = (work(window, [shuffled(rows, step)]) for rows in (500, 2_000))
    assert many < few * 6
