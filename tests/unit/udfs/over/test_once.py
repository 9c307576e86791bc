"""Rows of one key and one time come out as one: the windows of SLIDE, in the operator and in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from over_model import KEY, TEXT, TIME, TYPES, VALUE, Batch, Row, Run

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.over.operator import OverOperator
from sqlext_udfs.over.specification import OverCall, OverFrame, OverSpecification

_ROWS = st.builds(
    Row,
    st.sampled_from(["a", "b", None]),
    st.integers(0, 20),
    st.none() | st.integers(-5, 5),
    st.none(),
    st.none() | st.sampled_from(["x", "y", "zz"]),
    st.just(0),
)


class Windows(Run):
    """The operator as SLIDE uses it: keys and time come out, and the results over windows of ``size`` ms."""

    def __init__(self, size: int) -> None:
        super().__init__()
        frame = OverFrame("RANGE", size - 1)
        calls = (
            OverCall("count", (), frame),
            OverCall("sum", (VALUE,), frame),
            OverCall("count", (TEXT,), frame, distinct=True),
            OverCall("max", (TEXT,), frame),
            OverCall("first", (VALUE,), frame),
        )
        self.operator = OverOperator(OverSpecification(1, TIME, (KEY, TIME), calls, once=True), TYPES)
        self.state = self.operator.empty()


def windows(batches: Sequence[Batch], size: int) -> list[list[tuple[Any, ...]]]:
    """Return the windows that come out of each batch, and at the end of input."""
    watermark: int | None = None
    rows: list[Row] = []
    out: list[list[tuple[Any, ...]]] = []
    done: set[tuple[str | None, int]] = set()
    for batch in [*batches, Batch([], Clock.END)]:
        rows += [r for r in batch.rows if watermark is None or r.time >= watermark]
        watermark = batch.watermark if batch.watermark is not None else watermark
        over = {(r.key, r.time) for r in rows if watermark is not None and r.time < watermark} - done
        out.append([_window(rows, key, time, size) for key, time in over])
        done |= over
    return out


def _window(rows: Sequence[Row], key: str | None, time: int, size: int) -> tuple[Any, ...]:
    own = sorted((r for r in rows if r.key == key and time - size < r.time <= time), key=lambda r: r.time)
    values = [r.value for r in own if r.value is not None]
    texts = [r.text for r in own if r.text is not None]
    first = values[0] if values else None
    sum_ = sum(values) if values else None
    return key, time, len(own), sum_, len(set(texts)), max(texts, default=None), first


@st.composite
def _batches(draw: st.DrawFn) -> list[Batch]:
    some = st.builds(Batch, st.lists(_ROWS, max_size=12), st.none() | st.integers(0, 25))
    batches = draw(st.lists(some, max_size=6))
    marks = iter(sorted(b.watermark for b in batches if b.watermark is not None))
    return [Batch(rows, None if mark is None else next(marks)) for rows, mark in batches]


@settings(max_examples=300, deadline=None)
@given(_batches(), st.sampled_from([1, 2, 5, 30]))
def test_windows_agree_with_plain_python(batches: list[Batch], size: int) -> None:
    run = Windows(size)
    found = [run.batch(b.rows, b.watermark) for b in [*batches, Batch([], Clock.END)]]
    assert [sorted(out, key=repr) for out in found] == [sorted(out, key=repr) for out in windows(batches, size)]


@settings(max_examples=100, deadline=None)
@given(st.lists(_ROWS, max_size=20), st.lists(st.integers(0, 25), max_size=4), st.integers(1, 8))
def test_how_rows_are_cut_does_not_matter(rows: list[Row], marks: list[int], size: int) -> None:
    """A stream whose rows come before the watermark that passes them gives what all rows at once give."""
    at_once = Windows(size).all([Batch(rows)])
    bounds = [*sorted(marks), Clock.END]
    lows = [-1, *sorted(marks)]
    cut = [Batch([r for r in rows if low <= r.time < high], high) for low, high in zip(lows, bounds, strict=True)]
    assert sorted(Windows(size).all(cut), key=repr) == sorted(at_once, key=repr)


def test_a_late_row_is_in_no_window_and_counted() -> None:
    run = Windows(10)
    assert run.batch([Row("a", 5, 1)], 8) == [("a", 5, 1, 1, 0, None, 1)]
    assert run.batch([Row("a", 7, 100), Row("a", 8, 2)], 12) == [("a", 8, 2, 3, 0, None, 1)]
    assert run.late == 1


def test_rows_that_no_window_reaches_are_forgotten() -> None:
    run = Windows(10)
    run.batch([Row("a", 5, 1), Row("b", 6, 1)], 8)
    assert run.state.reached.num_rows == 2
    assert run.operator.next_wakeup(run.state).event == 16
    run.batch([], 16)
    assert run.state.reached.num_rows == 0


def test_windows_without_aggregates() -> None:
    operator = OverOperator(OverSpecification(1, TIME, (KEY, TIME), (), once=True), TYPES)
    run = Windows(5)
    run.operator, run.state = operator, operator.empty()
    assert run.all([Batch([Row("a", 3), Row("b", 1), Row("a", 3)])]) == [("b", 1), ("a", 3)]
    assert run.state.reached.num_rows == 0
