"""Whatever the order and the batches: the same final panes; whatever the moment: state can be saved and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlext_udfs.windows.groups.state import StateLayout
from sqlext_udfs.windows.policy import Cumulate, Hop, KeepCount, Options, Policy, Session, Tumble, WindowKind
from sqlext_udfs.windows.triggers.rules import batch_insensitive
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterWatermark,
    Align,
    AllOf,
    AnyOf,
    Delay,
    EachOf,
    EveryAligned,
    EveryEventTime,
    EveryPeriod,
    EveryRow,
    Never,
    Repeat,
    Trigger,
    Until,
)
from tests.window_simulation import Pane, Row, Simulation

HORIZON = 60
WINDOWS: list[WindowKind] = [
    Tumble(10),
    Tumble(10, 3),
    Hop(10, 4),
    Hop(4, 10, 1),
    Cumulate(12, 4),
    Session(5),
    Session(None),
]

ROWS = st.lists(
    st.builds(
        lambda key, ts, gap: Row(key, ts, ts, (), gap),
        st.sampled_from("ab"),
        st.integers(-5, HORIZON),
        st.integers(1, 9),
    ),
    max_size=25,
)
CUTS = st.lists(st.integers(0, 25), max_size=4)

LEAVES: st.SearchStrategy[Trigger] = st.one_of(
    st.builds(AfterCount, st.integers(1, 4), st.booleans()),
    st.just(EveryRow()),
    st.builds(lambda ms: AfterDelay((Delay(ms),)), st.integers(0, 6)),
    st.builds(lambda ms: AfterDelay((Align(ms, 1),)), st.integers(2, 6)),
    st.builds(EveryPeriod, st.integers(1, 6)),
    st.builds(EveryAligned, st.integers(1, 6), st.booleans()),
    st.builds(EveryEventTime, st.integers(3, 9), st.booleans()),
    st.just(Never()),
    st.just(AfterWatermark()),
)


def _composites(parts: st.SearchStrategy[Trigger]) -> st.SearchStrategy[Trigger]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(AllOf),
        several.map(AnyOf),
        several.map(EachOf),
        st.builds(Until, parts, parts),
        parts.map(Repeat),
        st.builds(AfterWatermark, parts, parts),
    )


TRIGGERS = st.recursive(LEAVES, _composites, max_leaves=5)
POLICIES = st.builds(
    Policy,
    st.sampled_from(WINDOWS),
    TRIGGERS,
    once=st.booleans(),
    mode=st.sampled_from(["ACCUMULATING", "DISCARDING", "RETRACTING"]),
    lateness=st.sampled_from([0, 7]),
    on_time_pane=st.sampled_from([None, "ALWAYS", "IF_NOT_EMPTY"]),
    final_pane=st.sampled_from(["ALWAYS", "IF_NOT_EMPTY", "NEVER"]),
    pane_timestamp=st.sampled_from(["END_OF_WINDOW", "EARLIEST", "LATEST"]),
    evictor=st.sampled_from([None, None, KeepCount(3)]),
    options=st.builds(
        Options,
        st.sampled_from(["at", "after"]),
        st.sampled_from(["end", "last_ms"]),
        st.sampled_from(["after_merge", "before_merge"]),
        st.sampled_from(["inclusive", "exclusive"]),
        st.sampled_from(["once", "each"]),
        st.sampled_from(["reset", "sticky"]),
    ),
)
#: (rows, by how much the watermark moves on, and the clock).
STEPS = st.lists(st.tuples(ROWS.map(lambda rows: rows[:6]), st.integers(0, 15), st.integers(0, 5)), max_size=8)


def _split(rows: Sequence[Row], cuts: Sequence[int]) -> list[Sequence[Row]]:
    bounds = [0, *sorted(min(c, len(rows)) for c in cuts), len(rows)]
    return [rows[low:high] for low, high in pairwise(bounds)]


def _all_panes(policy: Policy, batches: Sequence[Sequence[Row]]) -> list[Pane]:
    simulation = Simulation(policy)
    panes = [pane for batch in batches for pane in simulation.rows(*batch).panes]
    panes += simulation.end().panes
    assert not len(simulation.state)
    assert not simulation.stored
    return panes


def _contents(panes: Sequence[Pane]) -> list[tuple[Any, ...]]:
    return sorted((p.key, p.window, sorted(p.values), p.index, p.timing, p.last) for p in panes)


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
@settings(deadline=None, max_examples=40)
@given(data=st.data(), rows=ROWS, cuts=CUTS)
def test_order_and_batches_do_not_matter(
    window: WindowKind, data: st.DataObject, rows: list[Row], cuts: list[int]
) -> None:
    """On-time panes are those of one batch, also row by row and in another order."""
    policy = Policy(window, AfterWatermark())
    expected = _contents(_all_panes(policy, [rows]))
    shuffled = data.draw(st.permutations(rows))
    assert _contents(_all_panes(policy, _split(shuffled, cuts))) == expected
    one_by_one = replace(policy, trigger=AfterWatermark(early=AfterCount(10_000)))
    assert _contents(_all_panes(one_by_one, _split(shuffled, cuts))) == expected
    assert sum(len(p[2]) for p in expected) == _assigned(window, rows)


@pytest.mark.parametrize("window", [Session(5), Session(None), Hop(10, 4), Tumble(10)], ids=repr)
def test_each_order_of_rows_that_make_one_session(window: WindowKind) -> None:
    """A row that comes last joins the sessions on both sides of it."""
    rows = [Row("a", ts, ts, (), 5) for ts in (0, 4, 8, 12, 30)]
    policy = Policy(window, AfterWatermark())
    expected = _contents(_all_panes(policy, [rows]))
    for order in permutations(rows):
        assert _contents(_all_panes(policy, [[row] for row in order])) == expected


def _assigned(window: WindowKind, rows: list[Row]) -> int:
    """Return how many windows the rows have, by the definition of each kind of window."""

    def covers(start: int, size: int, ts: int) -> bool:
        return start <= ts < start + size

    def of_row(ts: int) -> int:
        if isinstance(window, Hop):
            starts = range(window.offset - 100 * window.slide, 200, window.slide)
            return sum(covers(start, window.size, ts) for start in starts)
        if isinstance(window, Cumulate):
            start = ts - (ts - window.offset) % window.size
            return sum(ts < end for end in range(start + window.step, start + window.size + 1, window.step))
        return 1

    return sum(of_row(row.ts) for row in rows if row.ts is not None)


@settings(deadline=None, max_examples=60)
@given(window=st.sampled_from(WINDOWS), rows=ROWS, cuts=CUTS, n=st.integers(1, 4), discarding=st.booleans())
def test_exact_counts_do_not_depend_on_batches(
    window: WindowKind, rows: list[Row], cuts: list[int], n: int, discarding: bool
) -> None:
    """The same rows in the same order give the same panes, each of n rows (M5).

    In what order the rows of sessions that were merged stand in a pane is not promised: it goes by their merging.
    """
    policy = Policy(window, AfterCount(n), mode="DISCARDING" if discarding else "ACCUMULATING")
    expected, parted = _all_panes(policy, [rows]), _all_panes(policy, _split(rows, cuts))
    if isinstance(window, Session):
        expected, parted = ([replace(p, values=tuple(sorted(p.values))) for p in ps] for ps in (expected, parted))
    assert sorted(map(repr, parted)) == sorted(map(repr, expected))
    if discarding and not isinstance(window, Session):
        assert {len(p.values) for p in expected if p.timing == "EARLY"} <= {n}


@settings(deadline=None, max_examples=150)
@given(policy=POLICIES, steps=STEPS)
def test_state_can_be_saved_and_read_at_any_step(policy: Policy, steps: list[tuple[list[Row], int, int]]) -> None:
    """What is saved and read decides as what was not; nothing is left at the end."""
    saved, kept = Simulation(policy, saved=True), Simulation(policy, saved=False)
    watermark = now = 0
    for rows, on, later in steps:
        watermark, now = watermark + on, now + later
        one, other = (s.step(rows, watermark, now) for s in (saved, kept))
        assert one.panes == other.panes
        assert (one.late, one.closed) == (other.late, other.closed)
        assert saved.state.encode().equals(kept.state.encode())
        assert saved.state.wakeup() == kept.state.wakeup()
        wakeup = saved.state.wakeup()
        assert wakeup.event is None or wakeup.event > watermark - policy.delay
        assert wakeup.processing is None or wakeup.processing > now or policy.options.deadline == "after"
    saved.end()
    assert not len(saved.state)
    assert not saved.stored


@settings(deadline=None, max_examples=100)
@given(policy=POLICIES, steps=STEPS)
def test_no_row_is_lost_or_twice(policy: Policy, steps: list[tuple[list[Row], int, int]]) -> None:
    """Each row is late, closed, left over or in a pane for each of its windows; with DISCARDING in one pane only."""
    policy = replace(policy, mode="DISCARDING", evictor=None)
    simulation = Simulation(policy)
    watermark = now = given_away = brought = 0
    panes: list[Pane] = []
    for rows, on, later in steps:
        watermark, now = watermark + on, now + later
        step = simulation.step(rows, watermark, now)
        brought += _assigned(policy.window, rows)
        given_away += step.late_windows + step.closed_windows + step.decisions.leftover
        panes += step.panes
    last = simulation.end()
    panes += last.panes
    assert sum(len(p.values) for p in panes) + given_away + last.decisions.leftover == brought


@settings(deadline=None, max_examples=60)
@given(policy=POLICIES, steps=STEPS)
def test_a_step_without_anything_changes_nothing(policy: Policy, steps: list[tuple[list[Row], int, int]]) -> None:
    """The same state object comes back where neither rows nor a deadline came."""
    simulation = Simulation(policy, saved=False)
    watermark = now = 0
    for rows, on, later in steps:
        watermark, now = watermark + on, now + later
        simulation.step(rows, watermark, now)
        before = simulation.state
        again = simulation.step((), watermark, now)
        assert simulation.state is before
        assert not again.panes


@settings(deadline=None, max_examples=150)
@given(policy=POLICIES, steps=STEPS)
def test_rows_may_be_combined_where_the_rules_say_so(policy: Policy, steps: list[tuple[list[Row], int, int]]) -> None:
    """Rows of a group and step that are added at once give the panes of rows that are added one by one."""
    policy = replace(policy, pane_timestamp="END_OF_WINDOW", evictor=None)
    assume(batch_insensitive(policy))
    together, single = Simulation(policy), Simulation(replace(policy, pane_timestamp="EARLIEST"))
    watermark = now = 0
    for rows, on, later in steps:
        watermark, now = watermark + on, now + later
        one, other = (s.step(rows, watermark, now) for s in (together, single))
        assert _without_times(one.panes) == _without_times(other.panes)
        assert (one.late_windows, one.closed_windows) == (other.late_windows, other.closed_windows)


def _without_times(panes: Sequence[Pane]) -> list[str]:
    return sorted(repr(replace(p, timestamp=None, values=tuple(sorted(p.values)))) for p in panes)


def test_a_step_reads_only_the_groups_that_it_touches(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are open: those that get rows and those that are due."""
    simulation = Simulation(Policy(Tumble(10), AfterWatermark(early=AfterDelay((Delay(5),)))), saved=False)
    simulation.rows(*(Row(str(i), i, 1) for i in range(2_000)))
    simulation.step([Row("0", 0, 15)], now=1)
    read: list[int] = []
    groups = StateLayout.groups
    monkeypatch.setattr(StateLayout, "groups", lambda *of: read.append(len(of[2])) or groups(*of))
    assert simulation.rows(Row("7", 7, 2), Row("new", 1, 1)).panes == []
    assert len(simulation.to_clock(5).panes) == 2_000
    assert len(simulation.to_clock(6).panes) == 2
    assert simulation.to_watermark(9).panes == []
    assert read == [1, 2_000, 2, 0]
