"""Sessions with a maximum length: as plain Python has them, in whatever order rows come."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.groups import Groups
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.panes.limited_sessions import limited_sessions
from sqlext_udfs.windows.policy import LimitedSession, Options, Policy
from sqlext_udfs.windows.triggers.tree import AfterWatermark, WindowClose
from tests.operator_runs import VALUE, Row, Run, specification

_COUNTED = (AggregateCall("count"), AggregateCall("sum", (VALUE,)))
_LISTED = (AggregateCall("collect_list", (VALUE,)), AggregateCall("first", (VALUE,)))
Found = tuple[str | None, tuple[int, int], tuple[int, ...]]


def _sessions(rows: Sequence[Row], window: LimitedSession, *, touching: bool = True) -> Iterator[Found]:
    """Yield key, window and values of each session, by the rule itself, row by row."""
    for key in {r.key for r in rows}:
        start = reach = 0
        values: list[int] = []
        for row in sorted((r for r in rows if r.key == key), key=lambda r: r.ts):
            near = row.ts <= reach if touching else row.ts < reach
            if not values or not near or row.ts >= start + window.limit:
                if values:
                    yield key, (start, min(reach, start + window.limit)), tuple(sorted(values))
                start, reach, values = row.ts, row.ts, []
            reach = max(reach, row.ts + (window.gap or row.gap or 0))
            values.append(row.value or 0)
        if values:
            yield key, (start, min(reach, start + window.limit)), tuple(sorted(values))


def _run(window: LimitedSession, *, late: bool = False, cut: int = 100, listed: bool = False, **more: object) -> Run:
    policy = Policy(window, AfterWatermark(), **more)  # type: ignore[arg-type]
    aggregates = _LISTED if listed else _COUNTED
    return Run(specification(policy, aggregates, late=late, gap=window.gap is None), cut=cut)


_ROWS = st.builds(
    lambda key, ts, gap: Row(key, 1, ts, gap),
    st.sampled_from(["a", "b", None]),
    st.integers(0, 40),
    st.integers(1, 15),
)
_WINDOWS = st.builds(LimitedSession, st.sampled_from([1, 3, 5, 50, None]), st.sampled_from([1, 4, 10, 60]))


@settings(deadline=None, max_examples=300)
@given(
    _WINDOWS,
    st.lists(st.tuples(st.lists(_ROWS, max_size=8), st.none() | st.integers(0, 45)), max_size=6),
    st.sampled_from([1, 3, 100]),
    st.booleans(),
    st.booleans(),
)
def test_the_sessions_are_those_of_all_rows_that_are_not_late(
    window: LimitedSession, batches: list[tuple[list[Row], int | None]], cut: int, listed: bool, touching: bool
) -> None:
    options = Options(session_gap="inclusive" if touching else "exclusive")
    run = _run(window, cut=cut, listed=listed, late=listed, options=options)
    kept: list[Row] = []
    late = arrived = 0
    before = watermark = -1
    out = []
    for rows, given_watermark in [*batches, ([], Clock.END)]:
        numbered = [r._replace(value=arrived + i) for i, r in enumerate(rows)]
        arrived += len(rows)
        watermark = watermark if given_watermark is None else max(watermark, given_watermark)
        kept += [r for r in numbered if r.ts >= before]
        late += sum(r.ts < before for r in numbered)
        out += run.step(numbered, None if watermark < 0 else watermark)
        before = watermark
    expected = list(_sessions(kept, window, touching=touching))
    assert len(out) == len(expected)
    found = {(o.key, o.window): o.results for o in out}
    for key, bounds, values in expected:
        assert found[key, bounds] == ((list(values), values[0]) if listed else (len(values), sum(values)))
    assert run.dropped_late == late
    assert len(run.late) == (late if listed else 0)
    assert run.open_groups == 0


@settings(deadline=None, max_examples=100)
@given(_WINDOWS, st.lists(_ROWS, max_size=12), st.integers(0, 40))
def test_nothing_happens_before_the_next_wake_up(window: LimitedSession, rows: list[Row], watermark: int) -> None:
    run = _run(window)
    run.step(rows, watermark)
    event, _ = run.wakeup()
    assert (event is None) == (run.open_groups == 0)
    if event is not None:
        assert run.step([], event - 1) == []
        assert run.step([], event)


def test_a_session_ends_at_its_maximum_and_the_next_row_begins_one() -> None:
    run = _run(LimitedSession(5, 10))
    out = run.step([Row("a", 1, t) for t in (0, 4, 8, 12, 13, 30)], 29)
    assert sorted(o.window for o in out if o.window) == [(0, 10), (12, 18)]
    # The watermark is not behind the start of the third.
    assert [o.window for o in run.step([], Clock.END)] == [(30, 35)]


def test_a_row_before_the_first_one_moves_all_cuts() -> None:
    times = (4, 8, 12, 16)
    assert [o.window for o in sorted(_run(LimitedSession(5, 10)).step([Row("a", 1, t) for t in times], Clock.END))] == [
        (4, 14),
        (16, 21),
    ]
    run = _run(LimitedSession(5, 10))
    assert run.step([Row("a", 1, t) for t in times], 0) == []
    assert [o.window for o in sorted(run.step([Row("a", 1, 0)], Clock.END))] == [(0, 10), (12, 21)]


def test_a_long_gap_does_not_reach_over_the_maximum() -> None:
    run = _run(LimitedSession(None, 10))
    rows = [Row("a", 1, 0, gap=100), Row("a", 1, 12, gap=1), Row("a", 1, 20, gap=1)]
    assert [o.window for o in sorted(run.step(rows, Clock.END))] == [(0, 10), (12, 13), (20, 21)]


def test_a_row_at_the_end_of_a_session_joins_it_if_it_is_in_time() -> None:
    run = _run(LimitedSession(5, 100))
    assert run.step([Row("a", 1, 0)], 5) == []
    assert [o.window for o in run.step([Row("a", 1, 5)], Clock.END)] == [(0, 10)]
    ended = _run(LimitedSession(50, 5))
    assert [o.window for o in ended.step([Row("a", 1, 0)], 5)] == [(0, 5)]


def test_rows_behind_the_watermark_take_the_space_of_one() -> None:
    run = _run(LimitedSession(5, 1_000_000))
    run.step([Row("a", 1, t) for t in range(10_000)], 0)
    run.step([Row("a", 1, 10_000)], 9_999)
    long = len(run.saved)
    run.step([Row("a", 1, 10_001)], 9_999)
    assert len(run.saved) <= long
    assert run.open_groups < 10
    assert [o.results[0] for o in run.step([], Clock.END)] == [10_002]


def test_only_one_pane_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match="one pane"):
        Run(specification(Policy(LimitedSession(5, 10), AfterWatermark(early=AfterWatermark())), _COUNTED))
    held = Policy(LimitedSession(5, 10), WindowClose(delay=3))
    run = Run(specification(held, _COUNTED))
    assert run.step([Row("a", 1, 0)], 8) == []
    assert [o.window for o in run.step([], 9)] == [(0, 5)]


def test_the_cost_is_that_of_the_rows() -> None:
    def seconds(count: int) -> float:
        starts = np.arange(count, dtype=np.int64)
        # Every second row reaches one row far only: what a maximum has cut falls apart.
        ends = starts + np.where(starts % 100 == 0, 10 * count, 1)
        began = time.perf_counter()
        limited_sessions(Groups(np.zeros(count, np.int64), 1), starts, ends, 50, touching=False)
        return time.perf_counter() - began

    few = min(seconds(20_000) for _ in range(3))
    assert seconds(200_000) < 40 * few
