"""Windows of one pane: the columnar engine, the trigger engine and plain Python agree, whatever the batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_pane_model import Model

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.horizon import single_pane_horizon
from sqlext_udfs.windows.policy import Cumulate, Hop, Options, Policy, Session, Tumble, WindowKind
from sqlext_udfs.windows.triggers.tree import AfterWatermark, Never, WindowClose
from tests.operator_runs import GAP, TIME, VALUE, Out, Row, Run, specification

_WINDOWS: list[WindowKind] = [
    Tumble(10),
    Tumble(10, 3),
    Hop(10, 5),
    Hop(10, 4, 1),
    Hop(6, 10),
    Hop(7, 3),
    Cumulate(12, 3),
    Cumulate(12, 4, 5),
    Session(4),
    Session(None),
]
_AGGREGATES = (
    AggregateCall("collect_list", (VALUE,)),
    AggregateCall("count"),
    AggregateCall("sum", (VALUE,)),
    AggregateCall("first", (VALUE,)),
    AggregateCall("last", (VALUE,)),
    AggregateCall("max_by", (VALUE, TIME)),
)
_UNORDERED = (AggregateCall("count"), AggregateCall("sum", (VALUE,)), AggregateCall("max", (VALUE,)))


class Batch(NamedTuple):
    """A micro-batch; the watermark does not move where it has none."""

    rows: list[Row]
    watermark: int | None


_KEYS = st.sampled_from(["a", "b", None])
_ROWS = st.builds(
    Row, _KEYS, st.integers(0, 9), st.integers(0, 40), gap=st.integers(1, 6), window=st.sampled_from([(0, 9), (5, 20)])
)


@st.composite
def _batches(draw: st.DrawFn) -> list[Batch]:
    batches = draw(st.lists(st.builds(Batch, st.lists(_ROWS, max_size=8), st.none() | st.integers(0, 45)), max_size=6))
    watermark = -1
    out = []
    for batch in batches:
        watermark = watermark if batch.watermark is None else max(watermark, batch.watermark)
        out.append(Batch(batch.rows, None if watermark < 0 else watermark))
    if len(out) == 1 and draw(st.booleans()):  # all rows at the end of time (``processors.at_once``)
        return [Batch(out[0].rows, Clock.END)]
    return [*out, Batch([], Clock.END)]


@st.composite
def _policies(draw: st.DrawFn) -> Policy:
    lateness = draw(st.sampled_from([0, 0, 7]))
    trigger = draw(st.sampled_from([Never(), WindowClose(), WindowClose(delay=3)]))
    if not lateness:
        trigger = draw(st.sampled_from([trigger, AfterWatermark(), AfterWatermark(delay=2)]))
    options = Options(
        window_end=draw(st.sampled_from(["end", "last_ms"])),
        late_check=draw(st.sampled_from(["after_merge", "before_merge"])),
        session_gap=draw(st.sampled_from(["inclusive", "exclusive"])),
    )
    mode = draw(st.sampled_from(["ACCUMULATING", "DISCARDING", "RETRACTING"]))
    return Policy(draw(st.sampled_from(_WINDOWS)), trigger, mode=mode, lateness=lateness, options=options)


def _run(
    policy: Policy,
    aggregates: Sequence[AggregateCall] = _UNORDERED,
    *,
    least: int = 1,
    late: bool = False,
    cut: int = 100,
    given: bool = False,
) -> Run:
    gap = isinstance(policy.window, Session) and policy.window.gap is None
    return Run(specification(policy, aggregates, late=late, gap=gap, given=given), least=least, cut=cut)


def _sorted(out: list[Out]) -> list[Out]:
    return sorted(out, key=repr)


def _windows_of(rows: list[Row], *, given: bool) -> list[Row]:
    return rows if given else [r._replace(window=None) for r in rows]


@settings(deadline=None, max_examples=150)
@given(_policies(), _batches(), st.booleans(), st.sampled_from([1, 2, 3, 100]), st.booleans(), st.booleans())
def test_both_engines_give_the_same_panes(
    policy: Policy, batches: list[Batch], late: bool, cut: int, given: bool, ordered: bool
) -> None:
    if given:
        policy = replace(policy, window=Tumble(5))
    assert single_pane_horizon(policy) is not None
    aggregates = _AGGREGATES if ordered else _UNORDERED
    runs = [_run(policy, aggregates, least=g, late=late, cut=cut, given=given) for g in (1, 3)]
    assert type(runs[0].operator._engine) is not type(runs[1].operator._engine)
    for batch in batches:
        rows = _windows_of(batch.rows, given=given)
        one, other = (_sorted(r.step(rows, batch.watermark)) for r in runs)
        assert one == other
        assert runs[0].dropped_late == runs[1].dropped_late
        assert sorted(runs[0].late, key=repr) == sorted(runs[1].late, key=repr)
        assert (runs[0].open_groups == 0) == (runs[1].open_groups == 0)
    assert runs[0].open_groups == 0


@settings(deadline=None, max_examples=150)
@given(_policies(), _batches(), st.sampled_from([1, 2, 100]), st.booleans(), st.booleans())
def test_as_plain_python(policy: Policy, batches: list[Batch], cut: int, given: bool, ordered: bool) -> None:
    if given:
        policy = replace(policy, window=Tumble(5))
    run = _run(policy, _AGGREGATES if ordered else _UNORDERED, late=ordered, cut=cut, given=given)
    model = Model(policy)
    before: int | None = None
    arrived: dict[int, int] = {}
    for batch in batches:
        rows = [r._replace(value=len(arrived) + i) for i, r in enumerate(_windows_of(batch.rows, given=given))]
        arrived |= {r.value: r.ts for r in rows}
        expected = model.step(rows, batch.watermark, before)
        out = run.step(rows, batch.watermark)
        before = batch.watermark
        assert len(out) == len(expected)
        found = {(o.key, o.window): o.results for o in out}
        for key, window, values in expected:
            values = sorted(values)
            results = found[key, window]
            if ordered:
                best = max(values, key=lambda v: (arrived[v], -v))
                assert results == (values, len(values), sum(values), values[0], values[-1], best)
            else:
                assert results == (len(values), sum(values), max(values))
        assert run.dropped_late == model.dropped
        assert (run.open_groups == 0) == (not model.open)
    assert len(run.late) == (model.dropped if ordered else 0)
    assert run.open_groups == 0


@settings(deadline=None, max_examples=100)
@given(_policies(), _batches())
def test_nothing_happens_before_the_next_wake_up(policy: Policy, batches: list[Batch]) -> None:
    run = _run(policy)
    for batch in batches[:-1]:
        run.step(_windows_of(batch.rows, given=False), batch.watermark)
        event, processing = run.wakeup()
        assert processing is None
        assert (event is None) == (run.open_groups == 0)
        if event is not None:
            state = run.operator.decode(run.saved)
            early = run.operator.step(state, None, Clock(event - 1, run.watermark))
            assert early.state is state
            assert early.out.num_rows == 0
            assert run.operator.step(state, None, Clock(event, run.watermark)).out.num_rows


def test_state_without_windows_is_small() -> None:
    run = _run(Policy(Tumble(10), AfterWatermark()))
    run.step([Row(str(i), i, i) for i in range(1000)], 0)
    size = len(run.saved)
    assert run.open_groups == 1000
    run.step([], 2000)
    assert run.open_groups == 0
    assert len(run.saved) < size / 20


@pytest.mark.parametrize("least", [1, 2, 3])
def test_a_row_without_time_or_gap_is_refused(least: int) -> None:
    of = specification(Policy(Session(None), AfterWatermark()), _UNORDERED, gap=True)
    for place, code in ((TIME, "RUN-036"), (GAP, "RUN-037")):
        run = Run(of, least=least)
        row = Row("a", 1, 1, gap=1)._replace(**{"ts" if place == TIME else "gap": None})
        with pytest.raises(SqlExtError) as refused:
            run.step([row], 0)
        assert refused.value.code == code
