"""Deciding on all groups at once gives what deciding on them one by one gives, for any trigger that allows it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.groups.pane_engine import PaneEngine
from sqlext_udfs.windows.lanes.engine import LaneEngine
from sqlext_udfs.windows.policy import Cumulate, Global, Hop, Options, Policy, Tumble, WindowKind
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterIdle,
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
    Purging,
    Repeat,
    Timeout,
    Trigger,
    Until,
    WindowClose,
)
from tests.operator_runs import VALUE, Out, Row, Run, specification

_MS = st.integers(1, 6)
_WINDOWS: list[WindowKind] = [Tumble(10), Tumble(10, 3), Hop(10, 5), Hop(6, 10), Cumulate(12, 4), Global()]
_AGGREGATES = (AggregateCall("collect_list", (VALUE,)), AggregateCall("count"), AggregateCall("max", (VALUE,)))
_TRANSFORMS = st.lists(st.builds(Delay, _MS) | st.builds(Align, _MS, st.integers(0, 3)), min_size=1, max_size=2)
_LEAVES = st.one_of(
    st.builds(AfterCount, st.integers(1, 3), st.just(True)),
    st.just(EveryRow()),
    st.builds(AfterDelay, _TRANSFORMS.map(tuple)),
    st.builds(EveryPeriod, _MS),
    st.builds(EveryAligned, _MS, st.booleans()),
    st.builds(EveryEventTime, _MS, st.booleans()),
    st.builds(AfterIdle, _MS),
    st.just(Never()),
)


def _composites(inner: st.SearchStrategy[Trigger]) -> st.SearchStrategy[Trigger]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(AllOf, several),
        st.builds(AnyOf, several),
        st.builds(EachOf, several),
        st.builds(Until, inner, inner),
        st.builds(Repeat, inner),
        st.builds(Purging, inner),
        st.builds(Timeout, inner, _MS, st.booleans(), st.booleans()),
    )


_PLAIN: st.SearchStrategy[Trigger] = st.recursive(_LEAVES, _composites, max_leaves=4)
_TRIGGERS: st.SearchStrategy[Trigger] = st.one_of(
    _PLAIN,
    st.builds(AfterWatermark, st.none() | _PLAIN, st.none() | _PLAIN, st.sampled_from([0, 2])),
    st.builds(WindowClose, st.sampled_from([0, 2])),
)


@st.composite
def _policies(draw: st.DrawFn) -> Policy:
    processing_time = draw(st.sampled_from([False, False, True]))
    options = Options(
        deadline=draw(st.sampled_from(["at", "after"])),
        window_end=draw(st.sampled_from(["end", "last_ms"])),
        early_composite=draw(st.sampled_from(["reset", "sticky"])),
    )
    return Policy(
        draw(st.sampled_from(_WINDOWS)),
        draw(_TRIGGERS),
        processing_time=processing_time,
        once=draw(st.sampled_from([False, False, True])),
        mode=draw(st.sampled_from(["ACCUMULATING", "DISCARDING", "RETRACTING"])),
        lateness=draw(st.sampled_from([0, 0, 7])),
        on_time_pane=draw(st.sampled_from([None, "ALWAYS", "IF_NOT_EMPTY"])),
        final_pane=draw(st.sampled_from(["ALWAYS", "IF_NOT_EMPTY", "NEVER"])),
        keep_index=draw(st.booleans()),
        options=options,
    )


_ROWS = st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3), st.integers(0, 30)).map(
    lambda r: Row(*r, window=(r[2] - r[2] % 7, r[2] - r[2] % 7 + 9))
)
_Batch = tuple[list[Row], int | None, int]


@st.composite
def _batches(draw: st.DrawFn) -> list[_Batch]:
    drawn = draw(st.lists(st.tuples(st.lists(_ROWS, max_size=5), st.integers(0, 9), st.integers(0, 5)), max_size=8))
    watermark = now = 0
    batches: list[_Batch] = []
    for rows, forward, later in drawn:
        watermark, now = watermark + forward, now + later
        batches.append((rows, watermark or None, now))
    return [*batches, ([], Clock.END, now)]


def _sorted(out: list[Out]) -> list[Any]:
    """Return what comes out, by window; what comes out of one window stays in its order."""
    return sorted(out, key=lambda o: repr((o.key, o.window)))


@settings(deadline=None, max_examples=200)
@given(_policies(), _batches(), st.booleans(), st.sampled_from([1, 3, 100]), st.booleans())
def test_as_one_by_one(policy: Policy, batches: list[_Batch], late: bool, cut: int, given: bool) -> None:
    of = specification(policy, _AGGREGATES, late=late, given=given and not policy.processing_time)
    runs = [Run(of, least=least, cut=cut) for least in (2, 3)]
    assert [type(r.operator._engine) for r in runs] == [LaneEngine, PaneEngine]
    for rows, watermark, now in batches:
        many, one = (r.step(rows, watermark, now) for r in runs)
        assert _sorted(many) == _sorted(one)
        assert [r.dropped_late for r in runs] == [runs[0].dropped_late] * 2
        assert [r.dropped_closed for r in runs] == [runs[0].dropped_closed] * 2
        if policy.keep_index or policy.mode != "RETRACTING":
            assert [r.open_groups for r in runs] == [runs[0].open_groups] * 2
        assert sorted(map(repr, runs[0].late)) == sorted(map(repr, runs[1].late))
        if policy.keep_index or policy.mode != "RETRACTING":
            assert runs[0].wakeup() == runs[1].wakeup()
