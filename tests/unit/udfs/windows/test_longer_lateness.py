"""A lateness that becomes longer on the way: windows that were closed stay closed, those that are held live longer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.clock import BEFORE_ALL, Clock
from sqlext_udfs.windows.horizon import closed_until
from sqlext_udfs.windows.policy import Cumulate, Hop, LimitedSession, Options, Policy, Session, Tumble
from sqlext_udfs.windows.triggers.tree import AfterCount, AfterWatermark, EveryPeriod, EveryRow, Trigger, WindowClose
from tests.operator_runs import VALUE, Out, Row, Run, specification

CALLS = (AggregateCall("collect_list", (VALUE,)), AggregateCall("count"))
TRIGGERS: list[Trigger] = [
    AfterWatermark(),
    AfterWatermark(EveryPeriod(3), EveryRow()),
    AfterWatermark(AfterCount(2, at_least=True), EveryRow(), delay=2),
    WindowClose(),
    WindowClose(delay=1),
]
ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 40)).map(lambda r: Row(*r)), max_size=6
)
BATCHES = st.lists(st.tuples(ROWS, st.integers(0, 14)), min_size=1, max_size=5)


def go_on(before: Run, policy: Policy, closed: int) -> Run:
    """Return a run under another policy that has the state and the watermark of one before."""
    run = Run(replace(before.of, policy=policy, closed=closed), before.least)
    run.saved, run.watermark = before.saved, before.watermark
    return run


def last_panes(out: list[Out]) -> dict[object, tuple[object, ...]]:
    """Return what the last pane of each key and window says."""
    return {(o.key, o.window): o.results for o in out}


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from([Tumble(10), Hop(10, 5), Cumulate(12, 4)]),
    st.sampled_from(TRIGGERS),
    st.sampled_from(["end", "last_ms"]),
    st.booleans(),
    BATCHES,
    BATCHES,
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0, 3]),
)
def test_windows_that_were_closed_stay_closed(
    window: Tumble | Hop | Cumulate,
    trigger: Trigger,
    ends: str,
    late: bool,
    first: list[tuple[list[Row], int]],
    then: list[tuple[list[Row], int]],
    least: int,
    lateness: int,
) -> None:
    """All others are as if the lateness had been the longer one from the first row on."""
    options = Options(window_end="last_ms" if ends == "last_ms" else "end")
    # Windows of one pane have a state of another form.
    several = isinstance(trigger, AfterWatermark) and trigger.early is not None
    short = Policy(window, trigger, lateness=lateness if several else 3, options=options)
    long = replace(short, lateness=11)
    old, anew = (Run(specification(p, CALLS, late=late), least) for p in (short, long))
    watermark, shown, expected = 0, [], []
    for rows, forward in first:
        watermark += forward
        shown += old.step(rows, watermark)
        expected += anew.step(rows, watermark)
    closed = closed_until(short, watermark - short.lateness)
    run = go_on(old, long, closed)
    before = last_panes(shown)
    for rows, forward in [*then, ([], Clock.END)]:
        watermark = Clock.END if forward == Clock.END else watermark + forward
        made = run.step(rows, watermark)
        assert all(o.window is not None and o.window[1] > closed for o in made)
        shown += made
        expected += anew.step(rows, watermark)
    found, wanted = last_panes(shown), last_panes(expected)
    gone = {key for key in (*found, *wanted) if key[1][1] <= closed}  # type: ignore[index]
    assert {k: v for k, v in found.items() if k not in gone} == {k: v for k, v in wanted.items() if k not in gone}
    assert {k: v for k, v in found.items() if k in gone} == {k: v for k, v in before.items() if k in gone}
    event("a row came to a closed window" if run.dropped_late > anew.dropped_late else "no row is late")


def engines(policy: Policy) -> list[int]:
    return [1, 3] if policy.gives_one_pane else [3]


SESSIONS = [Policy(Session(5), t, lateness=3) for t in (AfterWatermark(late=EveryRow()), WindowClose())]


@pytest.mark.parametrize(("policy", "least"), [(p, least) for p in SESSIONS for least in engines(p)])
def test_a_row_that_reaches_no_open_session_is_late(policy: Policy, least: int) -> None:
    old = Run(specification(policy, CALLS), least)
    old.step([Row("k", 1, 0), Row("k", 2, 9)], 10)
    # The session of 0 to 5 is gone, that of 9 to 14 is open.
    run = go_on(old, replace(policy, lateness=20), closed_until(policy, 10 - 3))
    run.step([Row("k", 3, 1), Row("k", 4, 2)], 10)
    assert run.dropped_late == 2
    # This one reaches it.
    run.step([Row("k", 5, 5)], 10)
    assert run.dropped_late == 2
    out = run.step([], Clock.END)
    assert (out[-1].window, out[-1].results[0]) == ((5, 14), [2, 5])


def test_sessions_with_a_maximum() -> None:
    policy = Policy(LimitedSession(5, 8), WindowClose(), lateness=3)
    old = Run(specification(policy, CALLS))
    old.step([Row("k", 1, 0)], 10)
    run = go_on(old, replace(policy, lateness=20), closed_until(policy, 10 - 3))
    run.step([Row("k", 2, 6), Row("k", 3, 7)], 10)
    assert run.dropped_late == 1
    assert [o.results[0] for o in run.step([], Clock.END)] == [[3]]


@pytest.mark.parametrize("least", [1, 2, 3])
def test_without_it_a_closed_window_would_begin_anew(least: int) -> None:
    """The danger itself: the operator cannot tell it from its state."""
    policy = Policy(Tumble(10), AfterWatermark(late=EveryRow()), lateness=3)
    old = Run(specification(policy, CALLS), least)
    old.step([Row("k", 1, 1), Row("k", 2, 2)], 14)
    for closed, expected in ((BEFORE_ALL, [[3]]), (closed_until(policy, 14 - 3), [])):
        run = go_on(old, replace(policy, lateness=20), closed)
        assert [o.results[0] for o in run.step([Row("k", 3, 3)], 14)] == expected
        assert run.dropped_late == (not expected)
