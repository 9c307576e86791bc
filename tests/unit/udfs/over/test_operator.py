"""OVER on whole columns and in plain Python agree, whatever the batches."""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from over_model import NUMBER, TEXT, VALUE, Batch, Row, Run, expected, table

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.operator import Clock, Wakeup
from sqlext_udfs.kernel.table_codec import decode_state
from sqlext_udfs.over.functions import output_types
from sqlext_udfs.over.operator import OverOperator
from sqlext_udfs.over.specification import OverCall, OverFrame, OverSpecification

_FRAMES = [
    OverFrame("ROWS", 0),
    OverFrame("ROWS", 2),
    OverFrame("ROWS"),
    OverFrame("RANGE", 0),
    OverFrame("RANGE", 7),
    OverFrame("RANGE"),
]
_WANTED = [
    ("count", (), False),
    ("count", (TEXT,), True),
    ("sum", (VALUE,), False),
    ("sum", (VALUE,), True),
    ("sum", (NUMBER,), False),
    ("min", (TEXT,), False),
    ("max", (NUMBER,), False),
    ("first", (VALUE,), False),
    ("last", (TEXT,), False),
    ("collect_list", (VALUE,), False),
]
_CALLS = [OverCall(name, inputs, frame, distinct) for name, inputs, distinct in _WANTED for frame in _FRAMES]
_CALLS += [OverCall(name) for name in ("row_number", "rank", "dense_rank")]
_CALLS += [
    OverCall("lag", (VALUE,), OverFrame("ROWS"), parameters=(("offset", 2),)),
    OverCall("lag", (TEXT,), OverFrame("RANGE")),
]
_ROWS = st.builds(
    Row,
    st.sampled_from(["a", "b", None]),
    st.integers(0, 30),
    st.none() | st.integers(-5, 5),
    st.none() | st.sampled_from([0.5, -2.0, 4.25]),
    st.none() | st.sampled_from(["x", "y", "zz"]),
)


@st.composite
def _batches(draw: st.DrawFn) -> list[Batch]:
    batches = draw(st.lists(st.builds(Batch, st.lists(_ROWS, max_size=9), st.none() | st.integers(0, 35)), max_size=5))
    marks = iter(sorted(b.watermark for b in batches if b.watermark is not None))
    number = iter(range(1_000))
    return [
        Batch([r._replace(id=next(number)) for r in rows], None if mark is None else next(marks))
        for rows, mark in batches
    ]


_FEW = settings(max_examples=50, deadline=None)


@settings(max_examples=150, deadline=None)
@given(_batches(), st.lists(st.sampled_from(_CALLS), min_size=1, max_size=6))
def test_over_agrees_with_plain_python(batches: list[Batch], calls: list[OverCall]) -> None:
    assert Run(*calls).all(batches) == expected(batches, calls)


#: Frames that go on behind the row: those by rows, and those by time, are computed apart.
_AHEAD = {
    "ROWS": [(None, 2), (None, 0), (2, 2), (0, 1), (-1, 3), (-2, 2), (1, 0), (4, -2), (None, -1), (0, 0)],
    "RANGE": [(None, 3), (None, 0), (5, 5), (0, 4), (-2, 6), (6, -2), (3, 0)],
}
_AHEAD_CALLS = {
    unit: [
        OverCall(name, inputs, OverFrame(unit, *frame), distinct)
        for name, inputs, distinct in _WANTED
        for frame in frames
        if not (distinct and frame[0] is None)
    ]
    for unit, frames in _AHEAD.items()
}
_AHEAD_CALLS["ROWS"] += [OverCall("lead", (VALUE,), OverFrame("ROWS", 0, n)) for n in (0, 1, 3)]


@settings(max_examples=300, deadline=None)
@given(_batches(), st.data(), st.sampled_from(list(_AHEAD)))
def test_frames_that_go_on_behind_the_row(batches: list[Batch], data: st.DataObject, unit: str) -> None:
    calls = data.draw(st.lists(st.sampled_from(_AHEAD_CALLS[unit]), min_size=1, max_size=4))
    assert sorted(Run(*calls).all(batches)) == sorted(expected(batches, calls))


@pytest.mark.parametrize("unit", _AHEAD)
def test_all_frames_that_go_on_behind_the_row(unit: str) -> None:
    rows = [Row("ab"[i % 7 == 0], i // 3, i % 5 - 2, i / 4, "xyz"[i % 3], i) for i in range(80)]
    batches = [Batch(rows[:25], 5), Batch(rows[25:40], 9), Batch(rows[40:60], None), Batch(rows[60:], 22)]
    calls = _AHEAD_CALLS[unit]
    assert sorted(Run(*calls).all(batches)) == sorted(expected(batches, calls))


@_FEW
@given(_batches(), st.data(), st.sampled_from(list(_AHEAD)))
def test_it_sleeps_until_something_comes_out(batches: list[Batch], data: st.DataObject, unit: str) -> None:
    run = Run(*data.draw(st.lists(st.sampled_from(_AHEAD_CALLS[unit]), min_size=1, max_size=2)))
    for batch in batches:
        run.batch(batch.rows, batch.watermark)
        wakeup = run.operator.next_wakeup(run.state).event
        if wakeup is not None and wakeup > (run.watermark or 0):
            step = run.operator.step(run.state, None, Clock(wakeup - 1, run.watermark))
            assert step.out.num_rows == 0
        if run.state.waiting.num_rows:
            assert wakeup is not None


def test_a_row_waits_until_the_watermark_has_passed_its_frame() -> None:
    run = Run(OverCall("count", frame=OverFrame("RANGE", 0, 10)))
    assert run.batch([Row("a", 5, id=1), Row("a", 9, id=2), Row("b", 5, id=3)], 15) == []
    assert run.operator.next_wakeup(run.state) == Wakeup(event=16)
    assert run.batch([Row("a", 15, id=4)], 16) == [(1, 3), (3, 1)]
    assert run.batch([], Clock.END) == [(2, 2), (4, 1)]


def test_a_row_waits_for_later_rows_of_its_key() -> None:
    run = Run(OverCall("lead", (VALUE,), OverFrame("ROWS", 0, 1)))
    assert run.batch([Row("a", 5, 1, id=1), Row("a", 9, 2, id=2), Row("b", 5, 3, id=3)], 8) == []
    assert run.operator.next_wakeup(run.state) == Wakeup(event=10)
    assert run.batch([], 10) == [(1, 2)]
    # No row is to be seen: only new ones, or the end, let these out.
    assert run.operator.next_wakeup(run.state) == Wakeup(event=Clock.END)
    assert run.batch([Row("b", 11, 4, id=4)], 12) == [(3, 4)]
    assert run.batch([], Clock.END) == [(2, None), (4, None)]


@_FEW
@given(st.lists(_ROWS, max_size=20), st.lists(st.sampled_from(_CALLS), min_size=1, max_size=3))
def test_all_rows_at_the_end_of_time_give_what_they_give_before(rows: list[Row], calls: list[OverCall]) -> None:
    numbered = [r._replace(id=n) for n, r in enumerate(rows)]
    assert Run(*calls).batch(numbered, Clock.END) == Run(*calls).all([Batch(numbered)])


def test_all_calls_agree_with_plain_python() -> None:
    rows = [Row("a", i // 3, i % 5 - 2, i / 4, "xyz"[i % 3], i) for i in range(60)]
    batches = [Batch(rows[:25], 5), Batch(rows[25:40], 9), Batch(rows[40:], None)]
    assert Run(*_CALLS).all(batches) == expected(batches, _CALLS)


def test_rows_come_out_in_time_order_when_the_watermark_has_passed_them() -> None:
    run = Run(OverCall("count"))
    assert run.batch([Row("a", 7, id=1), Row("a", 3, id=2), Row("b", 5, id=3)], 5) == [(2, 1)]
    assert run.batch([Row("a", 5, id=4)]) == []
    assert run.batch([], 6) == [(3, 1), (4, 2)]
    assert run.batch([], Clock.END) == [(1, 3)]


def test_rows_behind_the_watermark_are_dropped_and_counted() -> None:
    run = Run(OverCall("count"))
    run.batch([Row("a", 10)], 8)
    assert run.batch([Row("a", 7), Row("a", 8, id=1), Row("z", 1)], 9) == [(1, 1)]
    assert run.late == 2


def test_late_rows_as_flink_recorded_them() -> None:
    """Case over_agg/late_rows, a row at a time: that is how the watermark moved there."""
    folder = Path(__file__).parents[3] / "conformance" / "cases" / "flink" / "over_agg" / "late_rows"
    run, latest, out = Run(OverCall("count", frame=OverFrame("RANGE", 60_000))), 0, []
    for line in (folder / "in" / "late.csv").read_text("utf-8").splitlines():
        number, key, _, text = line.split(",")
        time = int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)
        latest = max(latest, time)
        out += run.batch([Row(key, time, id=int(number))], latest - 5_000)
    out += run.batch([], Clock.END)
    recorded = map(json.loads, (folder / "expected" / "snk.json").read_text("utf-8").splitlines())
    assert sorted(out) == sorted((r["id"], r["c"]) for r in recorded)
    assert run.late == 4


def test_peers_of_a_range_see_each_other_and_rows_do_not() -> None:
    run = Run(OverCall("sum", (VALUE,), OverFrame("RANGE", 1_000)), OverCall("sum", (VALUE,), OverFrame("ROWS", 1)))
    times = [1_000, 1_000, 2_000, 1_500, 2_000, 3_001]
    rows = [Row("a", time, 1 << i, id=i + 1) for i, time in enumerate(times)]
    assert run.all([Batch(rows)]) == [(1, 3, 1), (2, 3, 3), (4, 11, 10), (3, 31, 12), (5, 31, 20), (6, 32, 48)]


def test_processing_time_gives_rows_as_they_come() -> None:
    run = Run(OverCall("sum", (VALUE,), OverFrame("ROWS", 1)), OverCall("rank"), OverCall("count"), time=None)
    assert run.batch([Row("a", 9, 1), Row("a", 1, 2, id=1)]) == [(0, 1, 1, 1), (1, 3, 2, 2)]
    assert run.batch([Row("b", 0, 5), Row("a", 0, 4)]) == [(0, 5, 1, 1), (0, 6, 3, 3)]


def test_a_range_of_processing_time_goes_by_the_batch_clock() -> None:
    run = Run(OverCall("count", frame=OverFrame("RANGE", 100)), time=None)
    assert run.batch([Row("a", 0), Row("a", 0)], now=1_000) == [(0, 2), (0, 2)]
    assert run.batch([Row("a", 0)], now=1_100) == [(0, 3)]
    assert run.batch([Row("a", 0)], now=1_101) == [(0, 2)]
    assert run.operator.next_wakeup(run.state) == Wakeup(processing=1_202)
    assert run.batch([], now=1_300) == []
    assert run.state.reached.num_rows == 0
    with pytest.raises(SqlExtError, match="clock"):
        run.batch([Row("a", 0)])


def test_state_keeps_what_frames_reach() -> None:
    run = Run(OverCall("count", frame=OverFrame("RANGE", 10)), OverCall("sum", (VALUE,), OverFrame("RANGE", 5)))
    run.batch([Row("a", time, 1) for time in range(100)], 95)
    assert (run.state.reached.num_rows, run.state.waiting.num_rows, run.state.running.num_rows) == (10, 5, 0)
    assert run.operator.next_wakeup(run.state) == Wakeup(event=96)
    run.batch([], 100)
    assert run.operator.next_wakeup(run.state) == Wakeup(event=110)
    before = run.state
    assert run.operator.step(before, None, Clock(105, 100)).state is before
    run.batch([], 110)
    assert run.state.reached.num_rows == 0

    run = Run(OverCall("count", frame=OverFrame("ROWS", 3)), OverCall("max", (VALUE,)))
    run.batch([Row(key, time, 1) for time in range(50) for key in "ab"], 50)
    assert (run.state.reached.num_rows, run.state.running.num_rows) == (6, 2)
    assert run.operator.step(run.state, None, Clock(51, 50)).open_groups == 2


@pytest.mark.parametrize("keys", [0, 1])
def test_a_key_without_rows_is_forgotten(keys: int) -> None:
    """Its next row begins it anew: sums, numbers and frames of rows; one that waits for the watermark is kept."""
    run = Run(
        OverCall("sum", (VALUE,), OverFrame("ROWS")),
        OverCall("count", frame=OverFrame("ROWS", 1)),
        OverCall("row_number"),
        keys=keys,
        ttl=1000,
    )
    assert run.batch([Row("a", 1, 5), Row("a", 9, 7)], 5, now=0) == [(0, 5, 1, 1)]
    assert run.operator.next_wakeup(run.state) == Wakeup(event=10, processing=1000)
    assert run.batch([], 20, now=5000) == [(0, 12, 2, 2)]
    assert run.batch([Row("a", 25, 1)], 30, now=5999) == [(0, 13, 2, 3)]
    assert run.operator.next_wakeup(run.state).processing == 6999
    assert run.batch([Row("a", 35, 2)], 40, now=6999) == [(0, 2, 1, 1)]
    assert run.batch([], 40, now=7999) == []
    assert (run.state.written.num_rows, run.state.running.num_rows, run.state.reached.num_rows) == (0, 0, 0)


def test_only_keys_without_rows_are_forgotten() -> None:
    run = Run(OverCall("sum", (VALUE,), OverFrame("ROWS")), time=None, ttl=10)
    assert run.batch([Row("a", 0, 1), Row("b", 0, 1), Row(None, 0, 1)], now=0) == [(0, 1), (0, 1), (0, 1)]
    assert run.batch([Row("b", 0, 1), Row("b", 0, 1)], now=9) == [(0, 2), (0, 3)]
    assert run.operator.next_wakeup(run.state) == Wakeup(processing=10)
    assert run.batch([Row("a", 0, 1), Row("b", 0, 1), Row(None, 0, 1)], now=10) == [(0, 1), (0, 4), (0, 1)]


def test_a_state_without_ages_is_read_as_ever() -> None:
    run = Run(OverCall("sum", (VALUE,), OverFrame("ROWS")), time=None)
    run.batch([Row("a", 0, 1)])
    assert run.state.written.num_columns == 0
    assert len(decode_state(run.operator.encode(run.state)).column(0)) == 3


def test_nan_and_infinity_leave_with_their_rows() -> None:
    run = Run(OverCall("sum", (NUMBER,), OverFrame("ROWS", 1)), OverCall("max", (NUMBER,), OverFrame("ROWS", 1)))
    numbers = [1.0, math.inf, math.nan, 2.0, 3.0]
    made = run.all([Batch([Row("a", i, number=n, id=i) for i, n in enumerate(numbers)])])
    assert [(s, m) for _, s, m in made[:2]] == [(1.0, 1.0), (math.inf, math.inf)]
    assert made[-1] == (4, 5.0, 3.0)
    assert math.isnan(made[3][1])


def test_sums_near_the_limit_are_exact_or_fail() -> None:
    large = (1 << 62) - 1
    run = Run(OverCall("sum", (VALUE,), OverFrame("ROWS", 1)))
    rows = [Row("a", 1, large), Row("a", 2, large), Row("a", 3, -large), Row("a", 4, 1)]
    assert [s for _, s in run.all([Batch(rows)])] == [large, 2 * large, 0, 1 - large]
    with pytest.raises(SqlExtError, match="RUN-035"):
        Run(OverCall("sum", (VALUE,), OverFrame("ROWS", 2))).all([Batch([Row("a", i, large) for i in range(3)])])


def test_no_partition_is_one() -> None:
    run = Run(OverCall("count"), OverCall("count", (TEXT,), distinct=True), keys=0)
    assert run.all([Batch([Row("a", 1, text="x"), Row("b", 2, text="y")], 2), Batch([Row("c", 3, text="x")])]) == [
        (0, 1, 1),
        (0, 2, 2),
        (0, 3, 2),
    ]


def test_values_of_any_type_are_handed_on_and_decimals_summed() -> None:
    types = [pa.float64(), pa.int64(), pa.decimal128(10, 2), pa.list_(pa.int64())]
    specification = OverSpecification(1, 1, (3, 0), (OverCall("sum", (2,)), OverCall("variance", (0,))))
    decimals = pa.array([1, 2, 3], pa.decimal128(10, 2))
    rows = pa.table(
        [pa.array([0.0, -0.0, 0.0]), pa.array([1, 2, 3]), decimals, pa.array([[1], None, []], types[3])],
        ["c0", "c1", "c2", "c3"],
    )
    operator = OverOperator(specification, types)
    out = operator.step(operator.empty(), rows, Clock(10)).out
    assert [c.to_pylist() for c in out.columns[:2]] == [[[1], None, []], [0.0, 0.0, 0.0]]
    assert [int(v) for v in out.column(2).to_pylist()] == [1, 3, 6]
    assert out.schema.types == output_types(specification, types)
    assert operator.step(operator.empty(), None, Clock()).out.schema.types == out.schema.types


def test_other_columns_than_before_are_refused() -> None:
    run = Run(OverCall("count"))
    run.batch([Row("a", 1)], 0)
    with pytest.raises(SqlExtError, match="RUN-033"):
        run.operator.step(run.state, table([Row("a", 1)]).select([0, 1, 2]), Clock(0, 0))


def test_a_function_that_there_is_not_is_refused() -> None:
    with pytest.raises(SqlExtError, match="FUNC-022"):
        Run(OverCall("sum", (TEXT,)))
    with pytest.raises(SqlExtError, match="FUNC-022"):
        Run(OverCall("summ", (VALUE,)))
