"""EARLY and LATE come, go and change while windows are open: what windows hold stays."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.clock import Clock
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER
from sqlext_udfs.windows.policy import Global, Hop, Mode, Policy, Session, Tumble
from sqlext_udfs.windows.policy_state import without_trigger
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterIdle,
    AfterWatermark,
    AnyOf,
    Delay,
    EachOf,
    EveryEventTime,
    EveryPeriod,
    EveryRow,
    Repeat,
    Trigger,
)
from tests.operator_runs import VALUE, Out, Row, Run, specification

CALLS = (AggregateCall("collect_list", (VALUE,)), AggregateCall("count"))
PHASES: list[Trigger | None] = [
    None,
    EveryRow(),
    Repeat(AfterCount(2)),
    Repeat(AfterCount(3)),
    Repeat(AfterCount(2, at_least=True)),
    EveryPeriod(3),
    EveryEventTime(4),
    Repeat(AnyOf((AfterCount(3), AfterDelay((Delay(2),))))),
    Repeat(EachOf((AfterCount(1), AfterIdle(3)))),
]
ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 40)).map(lambda r: Row(*r)), max_size=6
)
BATCHES = st.lists(st.tuples(ROWS, st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=4)


def under(before: Run, policy: Policy) -> Run:
    """Return a run under another policy that has the state and the time of one before."""
    run = Run(replace(before.of, policy=policy), before.least)
    run.saved, run.watermark, run.now = before.saved, before.watermark, before.now
    return run


def shown(out: list[Out], sessions: bool, adds: bool) -> dict[object, object]:
    """Return what is shown in the end: the last result of each key and window, or all values of it where panes add.

    Sessions grow: those that became part of others do not count, and values that add are taken by key.
    """
    found: dict[object, object] = {}
    for o in out:
        if adds:
            key = o.key if sessions else (o.key, o.window)
            found[key] = sorted([*cast("list[int]", found.get(key, [])), *(o.results[0] or ())])
        elif o.kind in (INSERT, UPDATE_AFTER) and not (sessions and grew(o, out)):
            found[(o.key, o.window)] = o.results[0]
    return {key: values for key, values in found.items() if values}


def grew(one: Out, out: list[Out]) -> bool:
    """Return whether a session is part of another one."""
    assert one.window is not None
    (start, end), others = one.window, {o.window for o in out if o.key == one.key} - {one.window}
    return any(other is not None and other[0] <= start and end <= other[1] for other in others)


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from([Tumble(10), Hop(10, 5), Session(4), Global()]),
    st.tuples(*[st.sampled_from(PHASES)] * 4),
    st.booleans(),
    st.sampled_from(["ACCUMULATING", "DISCARDING", "RETRACTING"]),
    BATCHES,
    BATCHES,
    st.sampled_from([1, 3]),
)
def test_what_windows_hold_stays(
    window: Tumble | Hop | Session | Global,
    phases: tuple[Trigger | None, ...],
    alone: bool,
    mode: Mode,
    first: list[tuple[list[Row], int, int]],
    then: list[tuple[list[Row], int, int]],
    least: int,
) -> None:
    """The last pane of each window is that of the new query over all rows; panes that add have each row once."""
    triggers: list[Trigger] = [AfterWatermark(*pair) for pair in (phases[:2], phases[2:])]
    if isinstance(window, Global) or (alone and not isinstance(window, Session)):
        triggers = [phase or EveryRow() for phase in phases[:2]]
    one, other = (Policy(window, trigger, mode=mode, lateness=8) for trigger in triggers)
    assert without_trigger(one) == without_trigger(other)
    old, anew = Run(specification(one, CALLS), least), Run(specification(other, CALLS), least)
    watermark = now = 0
    seen, expected = [], []
    for rows, forward, later in first:
        watermark, now = watermark + forward, now + later
        seen += old.step(rows, watermark, now)
        expected += anew.step(rows, watermark, now)
    run = under(old, other)
    event(f"{type(old.operator._engine).__name__} to {type(run.operator._engine).__name__}")
    for rows, forward, later in [*then, ([], Clock.END, 9)]:
        watermark, now = (Clock.END if forward == Clock.END else watermark + forward), now + later
        seen += run.step(rows, watermark, now)
        expected += anew.step(rows, watermark, now)
    of = (isinstance(window, Session), mode == "DISCARDING")
    assert shown(seen, *of) == shown(expected, *of)
    assert (run.open_groups, run.dropped_late + old.dropped_late) == (0, anew.dropped_late)


TEN = Policy(Tumble(10), AfterWatermark(), lateness=8)
LATE = replace(TEN, trigger=AfterWatermark(late=Repeat(AfterCount(2))))


def panes(out: list[Out]) -> list[tuple[str, object]]:
    return [(o.timing, o.results[0]) for o in out]


@pytest.mark.parametrize("least", [1, 3])
def test_early_panes_come_and_go(least: int) -> None:
    run = Run(specification(TEN, CALLS), least)
    assert panes(run.step([Row("k", 1, 1)], 0, 0)) == []
    run = under(run, replace(TEN, trigger=AfterWatermark(Repeat(AfterCount(2)))))
    assert panes(run.step([Row("k", 2, 1)], 0, 0)) == []
    assert panes(run.step([Row("k", 3, 1)], 0, 0)) == [("EARLY", [1, 2, 3])]
    run = under(run, TEN)
    assert panes(run.step([Row("k", 4, 1), Row("k", 5, 1)], 0, 0)) == []
    assert panes(run.step([], 10, 0)) == [("ON_TIME", [1, 2, 3, 4, 5])]


@pytest.mark.parametrize("least", [1, 3])
def test_late_has_the_word_behind_the_on_time_pane(least: int) -> None:
    """A trigger that comes with LATE does not take the first late row for the on-time pane."""
    run = Run(specification(TEN, CALLS), least)
    assert panes(run.step([Row("k", 1, 1)], 10, 0)) == [("ON_TIME", [1])]
    run = under(run, LATE)
    assert panes(run.step([Row("k", 2, 1)], 10, 0)) == []
    assert panes(run.step([Row("k", 3, 1)], 10, 0)) == [("LATE", [1, 2, 3])]
    run = under(run, replace(LATE, trigger=AfterWatermark(EveryRow(), Repeat(AfterCount(2)))))
    # EARLY is new, and LATE goes on with its count.
    assert panes(run.step([Row("k", 4, 1)], 10, 0)) == []
    run = under(run, LATE)
    assert panes(run.step([Row("k", 5, 1)], 10, 0)) == [("LATE", [1, 2, 3, 4, 5])]
    assert panes(under(run, TEN).step([Row("k", 6, 1)], 10, 0)) == [("LATE", [1, 2, 3, 4, 5, 6])]


def test_fewer_rows_are_counted_anew() -> None:
    run = Run(specification(replace(TEN, trigger=AfterWatermark(Repeat(AfterCount(5)))), CALLS))
    run.step([Row("k", n, 1) for n in range(4)], 0, 0)
    run = under(run, replace(TEN, trigger=AfterWatermark(Repeat(AfterCount(2)))))
    assert panes(run.step([Row("k", 4, 1)], 0, 0)) == []
    assert panes(run.step([Row("k", 5, 1)], 0, 0)) == [("EARLY", [0, 1, 2, 3, 4, 5])]


def test_what_stays_a_deployment() -> None:
    """One pane has a state of another form; ONCE remembers which windows it has closed."""
    assert without_trigger(replace(TEN, lateness=0)) is None
    assert without_trigger(replace(TEN, once=True)) is None
    assert without_trigger(replace(TEN, mode="DISCARDING")) != without_trigger(TEN)
