"""The operator under any policy: changelogs that add up, counters, deadlines, state that goes away."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.groups.pane_state import PaneState
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.policy import Cumulate, Global, Hop, KeepCount, Policy, Session, Tumble, WindowKind
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterWatermark,
    AnyOf,
    Case,
    Delay,
    EveryAligned,
    EveryPeriod,
    EveryRow,
    Never,
    Repeat,
    Trigger,
    When,
)
from tests.operator_runs import TYPES, VALUE, Out, Row, Run, specification, table

_INSERT, _BEFORE, _AFTER, _DELETE = range(4)
_AGGREGATES = (
    AggregateCall("collect_list", (VALUE,)),
    AggregateCall("count"),
    AggregateCall("sum", (VALUE,)),
    AggregateCall("last", (VALUE,)),
)
_TRIGGERS: list[Trigger] = [
    AfterWatermark(),
    AfterWatermark(early=EveryRow()),
    AfterWatermark(early=Repeat(AfterCount(2)), late=EveryRow()),
    Repeat(AfterCount(2)),
    Repeat(AfterCount(2, at_least=True)),
    EveryRow(),
    Repeat(AfterDelay((Delay(3),))),
    EveryPeriod(2),
    AnyOf((Repeat(AfterCount(3)), EveryAligned(5))),
    Never(),
]
_WINDOWS: list[WindowKind] = [Tumble(10), Hop(10, 5), Cumulate(12, 3), Session(4), Global()]
_ROWS = st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3), st.integers(0, 40)).map(lambda r: Row(*r))
_Batch = tuple[list[Row], int, int]


@st.composite
def _batches(draw: st.DrawFn) -> list[_Batch]:
    drawn = draw(st.lists(st.tuples(st.lists(_ROWS, max_size=6), st.integers(0, 12), st.integers(0, 4)), max_size=6))
    watermark = now = 0
    batches = []
    for rows, forward, later in drawn:
        watermark, now = watermark + forward, now + later
        batches.append((rows, watermark, now))
    return [*batches, ([], Clock.END, now)]


@st.composite
def _policies(draw: st.DrawFn, mode: str) -> Policy:
    return Policy(
        draw(st.sampled_from(_WINDOWS)),
        draw(st.sampled_from(_TRIGGERS)),
        mode=mode,  # type: ignore[arg-type]
        lateness=draw(st.sampled_from([0, 6])),
        final_pane=draw(st.sampled_from(["IF_NOT_EMPTY", "ALWAYS"])),
        evictor=draw(st.sampled_from([None, None, KeepCount(2)])),
        keep_index=draw(st.booleans()),
    )


def _run(
    policy: Policy,
    cut: int = 100,
    *,
    late: bool = False,
    aggregates: Sequence[AggregateCall] = _AGGREGATES,
    least: int = 2,
) -> Run:
    return Run(specification(policy, aggregates, late=late), least=least, cut=cut)


@settings(deadline=None, max_examples=100)
@given(_policies("RETRACTING"), _batches(), st.sampled_from([1, 100]), st.sampled_from([2, 3]))
def test_a_changelog_takes_back_what_it_wrote(policy: Policy, batches: list[_Batch], cut: int, least: int) -> None:
    run = _run(policy, cut, least=least)
    held: dict[tuple[Any, ...], Out] = {}
    for rows, watermark, now in batches:
        for out in run.step(rows, watermark, now):
            at = out.key, out.window
            if out.kind in (_BEFORE, _DELETE):
                assert held.pop(at)._replace(kind=0) == out._replace(kind=0)
            else:
                assert at not in held
                held[at] = out
    assert run.open_groups == 0
    assert _sizes(run) == {0}


@settings(deadline=None, max_examples=100)
@given(_policies("ACCUMULATING"), _batches(), st.sampled_from([1, 100]))
def test_a_changelog_ends_with_the_last_panes(policy: Policy, batches: list[_Batch], cut: int) -> None:
    """The last row of each window under RETRACTING has the values of its last pane under ACCUMULATING."""
    panes = _run(policy, cut)
    changes = _run(_with_mode(policy, "RETRACTING"), cut)
    last: dict[tuple[Any, ...], Out] = {}
    changed: dict[tuple[Any, ...], Out] = {}
    for rows, watermark, now in batches:
        for out in panes.step(rows, watermark, now):
            last[out.key, out.window] = out
        for out in changes.step(rows, watermark, now):
            changed[out.key, out.window] = out
        gone = {at for at, out in changed.items() if out.kind == _DELETE}
        assert {at: o.results for at, o in changed.items() if at not in gone} == {
            at: o.results for at, o in last.items() if at not in gone
        }


@settings(deadline=None, max_examples=80)
@given(_batches(), st.integers(1, 4), st.sampled_from([Tumble(10), Hop(10, 5), Global()]), st.data())
def test_exact_counts_do_not_depend_on_batches(
    batches: list[_Batch], n: int, window: WindowKind, data: st.DataObject
) -> None:
    rows = [r for batch in batches for r in batch[0]]
    policy = Policy(window, Repeat(AfterCount(n)), mode="DISCARDING")
    whole, parts = _run(policy), _run(policy)
    cut = data.draw(st.integers(0, len(rows)))
    expected = whole.step(rows)
    found = [*parts.step(rows[:cut]), *parts.step(rows[cut:])]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


@settings(deadline=None, max_examples=80)
@given(_policies("DISCARDING"), _batches(), st.booleans())
def test_discarding_panes_have_each_row_once(policy: Policy, batches: list[_Batch], late: bool) -> None:
    """For windows that do not overlap: what came is in one pane, was late, or was evicted."""
    if isinstance(policy.window, Hop | Cumulate) or policy.evictor is not None:
        return
    run = _run(policy, late=late)
    came, out = 0, 0
    for rows, watermark, now in batches:
        came += len(rows)
        out += sum(o.results[1] for o in run.step(rows, watermark, now))
    assert came == out + run.dropped_late + run.dropped_closed
    assert len(run.late) == (run.dropped_late + run.dropped_closed if late else 0)


@settings(deadline=None, max_examples=80)
@given(_policies("ACCUMULATING"), _batches())
def test_nothing_happens_before_the_next_wake_up(policy: Policy, batches: list[_Batch]) -> None:
    run = _run(policy)
    for rows, watermark, now in batches[:-1]:
        run.step(rows, watermark, now)
        event, processing = run.wakeup()
        state = run.operator.decode(run.saved)
        soon = Clock(
            watermark if event is None else max(event - 1, watermark),
            watermark,
            now + 100 if processing is None else max(processing - 1, now),
        )
        early = run.operator.step(state, None, soon)
        assert early.state is state
        assert early.out.num_rows == 0


def test_elements_are_made_before_the_shuffle_only_where_nothing_depends_on_rows() -> None:
    rows = [Row("a", i, i) for i in range(8)]
    for trigger, combines in ((AfterWatermark(early=EveryRow()), True), (Repeat(AfterCount(2)), False)):
        run = _run(Policy(Tumble(100), trigger), aggregates=(AggregateCall("count"),))
        partial = run.operator.partial(table(rows))
        assert (partial.num_rows == 1) == combines
        assert partial.column_names[-1] == "bucket"
        assert run.operator.partial(partial).equals(partial)


def test_equal_rows_are_not_written_again_where_nobody_asks_which_pane_it_is() -> None:
    kinds = {}
    for keep_index in (False, True):
        policy = Policy(Tumble(10), AfterWatermark(early=EveryRow()), mode="RETRACTING", keep_index=keep_index)
        run = _run(policy, aggregates=(AggregateCall("max", (VALUE,)),))
        batches = [[Row("a", 5, 1)], [Row("a", 3, 2)], [Row("a", 7, 3)]]
        kinds[keep_index] = [[o.kind for o in run.step(rows, 0)] for rows in batches] + [
            [o.kind for o in run.step([], 10)]
        ]
    assert kinds[False] == [[_INSERT], [], [_BEFORE, _AFTER], []]
    assert kinds[True] == [[_INSERT], *[[_BEFORE, _AFTER]] * 3]


def test_once_closes_a_group() -> None:
    policy = Policy(Global(), AfterCount(2), once=True)
    run = _run(policy, late=True)
    out = run.step([Row("a", i, 0) for i in range(5)])
    assert [o.results[0] for o in out] == [[0, 1]]
    assert (run.dropped_closed, run.dropped_late) == (3, 0)
    assert [r.row["value"] for r in run.late] == [2, 3, 4]


def test_leftovers_that_nobody_wants_are_counted() -> None:
    policy = Policy(Tumble(10), Repeat(AfterCount(2)), final_pane="NEVER", mode="DISCARDING")
    run = _run(policy)
    run.step([Row("a", i, i) for i in range(3)], 0)
    assert run.step([], 10) == []
    assert run.dropped_closed == 1


def test_conditions_and_actions_of_rows() -> None:
    when = When('[">", ["SUM", 0], 4.0]', (0,))
    run = _run(Policy(Global(), Repeat(when), mode="DISCARDING"))
    rows = [Row("a", i, 0, numbers=(float(i), None)) for i in range(1, 5)]
    assert [o.results[0] for o in run.step(rows)] == [[1, 2, 3]]
    run = _run(Policy(Global(), Case(1)))
    rows = [Row("a", i, 0, numbers=(math.nan, action)) for i, action in enumerate([0.0, 1.0, None, 3.0])]
    assert [o.results[0] for o in run.step(rows)] == [[0, 1], [0, 1, 2, 3]]


@pytest.mark.parametrize("least", [2, 3])
def test_keys_and_state_go_when_nothing_is_known_of_them(least: int) -> None:
    run = _run(Policy(Tumble(10), AfterWatermark(early=EveryRow()), mode="RETRACTING"), least=least)
    run.step([Row(str(i), i, i % 30) for i in range(300)], 0)
    size = len(run.saved)
    assert _sizes(run) == {300}
    run.step([], 20)
    assert _sizes(run) == {100}
    run.step([], 30)
    assert _sizes(run) == {0}
    assert run.open_groups == 0
    assert len(run.saved) < size / 4


def test_processing_time_windows_wake_up_by_the_clock() -> None:
    run = _run(Policy(Tumble(10), AfterWatermark(), processing_time=True))
    run.step([Row("a", 1), Row("a", 2)], now=3)
    assert run.wakeup() == (None, 10)
    assert [(o.window, o.results[0]) for o in run.step(now=10)] == [((0, 10), [1, 2])]
    assert run.wakeup() == (None, None)


def test_a_delayed_watermark_is_what_wakes_up() -> None:
    run = _run(Policy(Tumble(10), AfterWatermark(early=EveryRow(), delay=5)))
    run.step([Row("a", 1, 3)], 0)
    assert run.wakeup().event == 15
    assert run.step([], 14) == []
    assert [o.timing for o in run.step([], 15)] == ["ON_TIME"]


def test_windows_without_end() -> None:
    (out,) = _run(Policy(Global(), EveryRow())).step([Row(None, 1, 0)])
    assert (out.key, out.window, out.timestamp) == (None, None, None)


def test_a_pane_may_be_empty() -> None:
    run = _run(Policy(Tumble(10), AfterWatermark(early=EveryRow()), mode="DISCARDING", on_time_pane="ALWAYS"))
    run.step([Row("a", 1, 1)], 0)
    (out,) = run.step([], 10)
    assert out.results == ([], 0, None, None)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_an_operator_travels_to_workers(least: int) -> None:
    of = specification(Policy(Hop(10, 5), AfterWatermark()), _AGGREGATES)
    made = pickle.loads(pickle.dumps(WindowOperator(of, TYPES, least=least)))
    assert made.step(made.empty(), None, Clock(0)).out.num_rows == 0


def test_counts_of_late_rows_are_of_rows() -> None:
    run = _run(Policy(Hop(10, 5), AfterWatermark(early=EveryRow())), aggregates=(AggregateCall("count"),))
    run.step([], 20)
    run.step([Row("a", 1, 1), Row("a", 1, 1), Row("a", 1, 16)], 20)
    assert run.dropped_late == 2
    assert Counter(o.timing for o in run.step([], 30)) == {"ON_TIME": 1}


def _sizes(run: Run) -> set[int]:
    """Return how many keys, groups, contents and written rows the state has."""
    state = run.operator.decode(run.saved)
    if isinstance(state, PaneState):
        return {len(of) for of in (state.keys.numbers, state.triggers, state.segments, state.written)}
    return {len(column) for column in (*state.keys, *state.partials, *state.written)}


def _with_mode(policy: Policy, mode: str) -> Policy:
    return replace(policy, mode=mode)  # type: ignore[arg-type]
