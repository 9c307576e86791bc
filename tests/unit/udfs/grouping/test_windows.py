"""Windows of rows that may be taken back, against windows that are computed anew."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.grouping.windows import WindowedGroups
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext_udfs.windows.filling.operator import FilledWindows
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.policy import Policy, Tumble
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import AfterWatermark, EveryRow

# Key, value, start and end of the window, what the row does.
TYPES = [pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.int8()]
AGGREGATES = (AggregateCall("count"), AggregateCall("sum", (1,)), AggregateCall("max", (1,)))
SIZE = 10
POLICY = Policy(Tumble(SIZE), AfterWatermark())
Row = tuple[str | None, int | None, int]


def operator(aggregates: tuple[AggregateCall, ...] = AGGREGATES, policy: Policy = POLICY) -> WindowedGroups:
    return WindowedGroups(WindowSpecification(1, policy, aggregates, start=2, end=3, kind=4), TYPES)


def fed(op: WindowedGroups, batches: list[tuple[list[tuple[Any, ...]], int]]) -> tuple[list[tuple[Any, ...]], int]:
    """Return key, start, end and results of all rows, and how many were late; each batch has the watermark behind it.

    The windows of rows (key, value, time, kind) are of ``SIZE``.
    """
    state, out, late = op.empty(), [], 0
    before: int | None = None
    for batch, watermark in batches:
        given_windows = [(k, v, t // SIZE * SIZE, t // SIZE * SIZE + SIZE, kind) for k, v, t, kind in batch]
        columns = [pa.array([r[i] for r in given_windows], t) for i, t in enumerate(TYPES)]
        rows = pa.table([*columns, pa.array([0] * len(batch), pa.int16())], [*(f"c{i}" for i in range(5)), "bucket"])
        rows = op.partial(pa.concat_tables([op.partial(rows.slice(0, 2)), op.partial(rows.slice(2))]))
        step = op.step(state, rows.drop_columns(["bucket"]) if batch else None, Clock(watermark, before))
        state, late, before = op.decode(op.encode(step.state)), late + step.dropped_late, watermark
        assert step.open_groups == state.groups.num_rows
        wakeup = op.next_wakeup(state).event
        assert wakeup is None or wakeup > watermark
        out += [tuple(r.values())[: 3 + len(AGGREGATES)] for r in step.out.to_pylist()]
    return out, late


def row(value: int | None, time: int, kind: int = INSERT, key: str | None = "a") -> tuple[Any, ...]:
    return (key, value, time, kind)


def test_changes_in_open_windows_are_taken_back() -> None:
    moved = [row(5, 3), row(1, 2), row(5, 3, UPDATE_BEFORE), row(7, 12, UPDATE_AFTER)]
    assert fed(operator(), [(moved[:2], 1), (moved[2:], 9), ([], 10), ([], 20)]) == (
        [("a", 0, 10, 1, 1, 1), ("a", 10, 20, 1, 7, 7)],
        0,
    )


def test_a_window_without_rows_gives_nothing() -> None:
    assert fed(operator(), [([row(5, 3)], 1), ([row(5, 3, DELETE)], 5), ([], Clock.END)]) == ([], 0)


def test_changes_behind_the_watermark_are_late() -> None:
    batches = [([row(5, 3)], 10), ([row(5, 3, UPDATE_BEFORE), row(6, 4, UPDATE_AFTER), row(8, 14)], 20)]
    assert fed(operator(), batches) == ([("a", 0, 10, 1, 5, 5), ("a", 10, 20, 1, 8, 8)], 2)


def test_a_window_whose_rows_are_taken_back_is_filled() -> None:
    """The one between those with rows; the last one; not one of a key that has no window with rows."""
    specification = WindowSpecification(1, POLICY, AGGREGATES, start=2, end=3, kind=4)
    op = FilledWindows(WindowedGroups(specification, TYPES), Filling(20, SIZE, SIZE), specification, TYPES)
    moves = [
        ([row(5, 3), row(7, 12), row(9, 4, key="b")], 1),
        ([row(7, 12, DELETE), row(9, 4, DELETE, "b"), row(1, 25)], 9),
        ([row(1, 25, UPDATE_BEFORE), row(2, 36, UPDATE_AFTER)], 11),
        ([], 70),
    ]
    state, found, before = op.empty(), [], None
    for batch, watermark in moves:
        given_windows = [(k, v, t // SIZE * SIZE, t // SIZE * SIZE + SIZE, kind) for k, v, t, kind in batch]
        rows = pa.table([pa.array([r[i] for r in given_windows], t) for i, t in enumerate(TYPES)], [*"abcde"])
        rows = op.partial(rows.append_column("bucket", pa.array([0] * len(batch), pa.int16())))
        step = op.step(state, rows.drop_columns(["bucket"]) if batch else None, Clock(watermark, before))
        state, before = op.decode(op.encode(step.state)), watermark
        found += [tuple(r.values())[:5] for r in step.out.to_pylist()]
    assert found == [
        ("a", 0, 10, 1, 5),
        ("a", 10, 20, None, None),
        ("a", 20, 30, None, None),
        ("a", 30, 40, 1, 2),
        ("a", 40, 50, None, None),
        ("a", 50, 60, None, None),
    ]


rows_ = st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(-2, 3), st.integers(0, 39))
batches_ = st.lists(st.tuples(st.lists(rows_, max_size=6), st.integers(0, 45)), max_size=5)


@settings(deadline=None)
@given(batches_, st.randoms(use_true_random=False))
def test_windows_are_of_the_rows_that_are_there_and_were_not_late(
    batches: list[tuple[list[Row], int]], random: Any
) -> None:
    known: list[Row] = []  # all that are still there, late or not
    counted: Counter[Row] = Counter()
    feed: list[tuple[list[tuple[Any, ...]], int]] = []
    late, watermark = 0, -1
    for batch, to in batches:
        known += batch
        changes = [(r, random.choice([INSERT, UPDATE_AFTER])) for r in batch]
        # Only rows of batches before: within a batch both would be gone on their way.
        for gone in random.sample(known[: -len(batch) or None], (len(known) - len(batch)) // 3):
            known.remove(gone)
            changes.append((gone, random.choice([DELETE, UPDATE_BEFORE])))
        # The operator sees the window of a row, and not its time.
        net: Counter[Row] = Counter()
        for (key, value, time), kind in changes:
            net[key, value, time // SIZE * SIZE] += 1 if kind in (INSERT, UPDATE_AFTER) else -1
        for r, n in net.items():
            if r[2] + SIZE <= watermark:
                late += abs(n)
            else:
                counted[r] += n
        watermark = max(watermark, to)
        feed.append(([(*r, kind) for r, kind in changes], watermark))
    groups: dict[Any, list[int | None]] = {}
    for (key, value, start), n in counted.items():
        groups.setdefault((key, start), []).extend([value] * n)
    expected = []
    for (key, start), values in groups.items():
        some = [v for v in values if v is not None]
        made = (len(values), sum(some) if some else None, max(some, default=None))
        expected += [(key, start, start + SIZE, *made)] if values else []
    out, dropped = fed(operator(), [*feed, ([], Clock.END)])
    assert (Counter(out), dropped) == (Counter(expected), late)


def test_windows_that_fire_more_than_once_are_not_for_it() -> None:
    with pytest.raises(ValueError, match="give one pane"):
        operator(policy=Policy(Tumble(SIZE), EveryRow()))
