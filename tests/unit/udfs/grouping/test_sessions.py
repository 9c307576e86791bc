"""Sessions, and windows of the clock, of rows that may be taken back, against windows that are computed anew."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.errors import SqlExtError
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.grouping.clock_windows import ClockWindows
from sqlext_udfs.grouping.sessions import SessionsOfChanges
from sqlext_udfs.kernel.operator import BucketOperator, Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from sqlext_udfs.windows.policy import Cumulate, Hop, LimitedSession, Policy, Session, Tumble
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import AfterWatermark

# Key, value, rowtime, what the row does.
TYPES = [pa.string(), pa.int64(), pa.int64(), pa.int8()]
AGGREGATES = (AggregateCall("count"), AggregateCall("sum", (1,)), AggregateCall("max", (1,)))
GAP = 10
POLICY = Policy(Session(GAP), AfterWatermark())
Row = tuple[str | None, int | None, int]


def sessions(policy: Policy = POLICY, gap: int | None = None) -> SessionsOfChanges:
    time = None if policy.processing_time else 2
    specification = WindowSpecification(1, policy, AGGREGATES, time=time, gap=gap, kind=len(TYPES) - 1)
    return SessionsOfChanges(specification, TYPES)


def fed(op: BucketOperator[Any], batches: list[tuple[list[tuple[Any, ...]], int]], *, by_clock: bool = False) -> Any:
    """Return key, start, end and results of all rows, and how many were late.

    Each batch has the watermark behind it, or the batch clock.
    """
    state, out, late = op.empty(), [], 0
    before: int | None = None
    for batch, time in batches:
        columns = [pa.array([r[i] for r in batch], t) for i, t in enumerate(TYPES)]
        rows = pa.table([*columns, pa.array([0] * len(batch), pa.int16())], [*"abcd", "bucket"])
        rows = op.partial(pa.concat_tables([op.partial(rows.slice(0, 2)), op.partial(rows.slice(2))]))
        clock = Clock(now=time) if by_clock else Clock(time, before)
        step = op.step(state, rows.drop_columns(["bucket"]) if batch else None, clock)
        state, late, before = op.decode(op.encode(step.state)), late + step.dropped_late, time
        wakeup = op.next_wakeup(state)
        next_time = wakeup.processing if by_clock else wakeup.event
        assert next_time is None or next_time > time
        assert (next_time is None) == (step.open_groups == 0)
        out += [tuple(r.values())[: 3 + len(AGGREGATES)] for r in step.out.to_pylist()]
    return out, late


def row(value: int | None, time: int, kind: int = INSERT, key: str | None = "a") -> tuple[Any, ...]:
    return (key, value, time, kind)


def test_a_session_is_of_the_rows_that_are_left_and_does_not_shrink() -> None:
    batches = [
        ([row(5, 3), row(1, 12)], 1),
        ([row(5, 3, UPDATE_BEFORE), row(7, 21, UPDATE_AFTER)], 9),
        ([], 30),
        ([], 31),
    ]
    assert fed(sessions(), batches) == ([("a", 3, 31, 2, 8, 7)], 0)


def test_rows_that_come_and_go_in_one_batch_leave_their_time() -> None:
    """Flink keeps the session of a row that it takes back; a later row joins it."""
    batches = [([row(5, 3), row(5, 3, DELETE)], 1), ([row(7, 8)], 9), ([], Clock.END)]
    assert fed(sessions(), batches) == ([("a", 3, 18, 1, 7, 7)], 0)


def test_a_session_without_rows_gives_nothing() -> None:
    assert fed(sessions(), [([row(5, 3)], 1), ([row(5, 3, DELETE)], 5), ([], 12), ([], 13)]) == ([], 0)


def test_changes_behind_the_watermark_are_late_unless_they_join_an_open_session() -> None:
    batches = [
        ([row(5, 3), row(6, 30)], 20),
        ([row(5, 3, UPDATE_BEFORE), row(9, 22, UPDATE_AFTER)], 25),
        ([row(1, 3), row(2, 14)], 36),
        ([], Clock.END),
    ]
    assert fed(sessions(), batches) == ([("a", 3, 13, 1, 5, 5), ("a", 14, 40, 3, 17, 9)], 2)


def test_a_gap_of_each_row() -> None:
    op = sessions(Policy(Session(None), AfterWatermark()), gap=1)
    assert fed(op, [([row(4, 0), row(9, 4)], 1), ([row(9, 4, DELETE)], 2), ([], Clock.END)]) == (
        [("a", 0, 13, 1, 4, 4)],
        0,
    )


def test_sessions_of_the_clock() -> None:
    op = sessions(Policy(Session(GAP), AfterWatermark(), processing_time=True))
    batches = [([row(5, 0)], 100), ([row(5, 0, UPDATE_BEFORE), row(6, 0, UPDATE_AFTER)], 105), ([], 115)]
    assert fed(op, batches, by_clock=True) == ([("a", 100, 115, 1, 6, 6)], 0)


def test_windows_of_the_clock_count_changes_when_they_come() -> None:
    """What a change takes back may have come in a window that is over: then both are in the one of now."""
    policies = {
        Tumble(10): [("a", 100, 110, 1, 5, 5), ("a", 110, 120, 1, 8, 8)],
        Hop(10, 5): [
            ("a", 95, 105, 1, 5, 5),
            ("a", 100, 110, 1, 5, 5),
            ("a", 110, 120, 1, 8, 8),
            ("a", 115, 125, 1, 8, 8),
        ],
        Cumulate(10, 5): [("a", 100, 105, 1, 5, 5), ("a", 100, 110, 1, 5, 5), ("a", 110, 120, 1, 8, 8)],
    }
    batches = [
        ([row(5, 0)], 100),
        ([], 110),
        ([row(5, 0, UPDATE_BEFORE), row(7, 0, UPDATE_AFTER), row(5, 0)], 116),
        ([row(7, 0, UPDATE_BEFORE), row(8, 0, UPDATE_AFTER)], 117),
        ([], 130),
    ]
    for window, expected in policies.items():
        policy = Policy(window, AfterWatermark(), processing_time=True)
        op = ClockWindows(WindowSpecification(1, policy, AGGREGATES, kind=3), TYPES)
        out, late = fed(op, batches, by_clock=True)
        assert (sorted(out), late) == (expected, 0), window


def test_rows_without_a_time_fail() -> None:
    with pytest.raises(SqlExtError, match="RUN-036"):
        fed(sessions(), [([("a", 1, None, INSERT)], 5)])


def test_what_is_not_for_them() -> None:
    with pytest.raises(ValueError, match="no maximum"):
        sessions(Policy(LimitedSession(GAP, 30), AfterWatermark()))
    with pytest.raises(ValueError, match="fixed length"):
        ClockWindows(WindowSpecification(1, POLICY, AGGREGATES, kind=3), TYPES)
    with pytest.raises(SqlExtError, match="RUN-033"):
        sessions().decode(ClockWindows(_tumbling(), TYPES).encode(ClockWindows(_tumbling(), TYPES).empty()))


def _tumbling() -> WindowSpecification:
    return WindowSpecification(1, Policy(Tumble(10), AfterWatermark(), processing_time=True), AGGREGATES, kind=3)


rows_ = st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(-2, 3), st.integers(0, 60))
batches_ = st.lists(st.tuples(st.lists(rows_, max_size=6), st.integers(0, 70)), max_size=5)


@settings(deadline=None)
@given(batches_, st.randoms(use_true_random=False))
def test_sessions_are_as_if_rows_came_one_by_one(batches: list[tuple[list[Row], int]], random: Any) -> None:
    known: list[Row] = []
    feed: list[tuple[list[tuple[Any, ...]], int]] = []
    watermark, before = -1, -100
    open_: list[tuple[str | None, int, int, Counter[int | None], int]] = []
    expected: list[Any] = []
    late = 0
    for batch, to in batches:
        changes = [(r, random.choice([INSERT, UPDATE_AFTER])) for r in batch]
        for gone in random.sample(known, len(known) // 3):
            known.remove(gone)
            changes.append((gone, random.choice([DELETE, UPDATE_BEFORE])))
        known += batch
        watermark = max(watermark, to)
        # The rows of a batch come at once: first all join, then it is asked which sessions are late.
        for (key, value, time), kind in changes:
            session = (key, time, time + GAP, Counter({value: 1 if kind in (INSERT, UPDATE_AFTER) else -1}), 1)
            open_ = _joined(open_, session)
        for key, start, end, values, _ in [s for s in open_ if s[2] <= before]:
            late += sum(abs(n) for n in _net(changes, key, start, end).values())
            assert values
        open_ = [s for s in open_ if s[2] > before]
        for key, start, end, values, _ in [s for s in open_ if s[2] <= watermark]:
            expected += _result(key, start, end, values)
        open_ = [s for s in open_ if s[2] > watermark]
        feed.append(([(*r, kind) for r, kind in changes], watermark))
        before = watermark
    for key, start, end, values, _ in open_:
        expected += _result(key, start, end, values)
    out, dropped = fed(sessions(), [*feed, ([], Clock.END)])
    assert (Counter(out), dropped) == (Counter(expected), late)


def _joined(open_: list[Any], new: Any) -> list[Any]:
    apart = [s for s in open_ if s[0] != new[0] or s[1] > new[2] or s[2] < new[1]]
    for s in open_:
        if s not in apart or (s[0] == new[0] and s[1] <= new[2] and s[2] >= new[1]):
            values = Counter(new[3])
            values.update(s[3])
            new = (new[0], min(new[1], s[1]), max(new[2], s[2]), values, new[4] + s[4])
    return [s for s in apart if not (s[0] == new[0] and s[1] <= new[2] and s[2] >= new[1])] + [new]


def _net(changes: list[Any], key: Any, start: int, end: int) -> Counter[Row]:
    net: Counter[Row] = Counter()
    for r, kind in changes:
        if r[0] == key and start <= r[2] < end:
            net[r] += 1 if kind in (INSERT, UPDATE_AFTER) else -1
    return net


def _result(key: Any, start: int, end: int, values: Counter[int | None]) -> list[Any]:
    """Return the row of a session; what is taken back of one that is over counts against the one that it is in now."""
    some = {v: n for v, n in values.items() if v is not None}
    total = sum(v * n for v, n in some.items()) if sum(some.values()) > 0 else None
    count = sum(values.values())
    largest = max((v for v, n in some.items() if n > 0), default=None)
    return [(key, start, end, count, total, largest)] if count > 0 else []
