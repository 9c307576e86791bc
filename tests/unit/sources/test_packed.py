"""What leaves a worker: partial results in their buckets, once the largest time, how many rows were read."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.connectors.moments import TimeMessage
from sqlext.connectors.row_bounds import ColumnBounds
from sqlext.connectors.splits import Passes
from sqlext.errors import SqlExtError
from sqlext.sources.packed import FAILURE, MEMBER, PackedWork, SharedWork, Together
from sqlext.sources.program import Nulls, Program, Rowtime, Stage
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.expressions.columns import Apply, Column, Compare, Literal
from sqlext_udfs.expressions.functions import INSTANT
from sqlext_udfs.kernel.bucket_keys import bucket_keys
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.table_codec import decode_rows
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.policy import Policy, Tumble
from sqlext_udfs.windows.shares import Share
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import WindowClose

_BUCKETS = 4
_SPECIFICATION = WindowSpecification(
    keys=1,
    policy=Policy(Tumble(10_000), WindowClose()),
    aggregates=(AggregateCall("count"), AggregateCall("sum", (2,))),
    time=1,
)
_TYPES = (pa.string(), pa.int64(), pa.int64())
_OPERATOR = WindowOperator(_SPECIFICATION, _TYPES)
_K, _V, _TS = Column(pa.string(), name="k"), Column(pa.int64(), name="v"), Column(INSTANT, name="ts")
_SELECTED = (("c0", _K), ("c1", Apply(pa.int64(), function="unix_millis", inputs=(_TS,))), ("c2", _V))


def _work(least: int = 0, nulls: Nulls = "fail") -> PackedWork:
    where = Compare(pa.bool_(), op=">=", inputs=(_V, Literal(pa.int64(), value=least)))
    program = Program(None, Rowtime("ts", "t.ts", nulls), ((Stage(_SELECTED, where),),))
    return PackedWork(program, _OPERATOR, 1, _BUCKETS)


def _batch(*rows: tuple[str | None, int, int | None]) -> pa.RecordBatch:
    """Return rows of key, value and seconds."""
    keys, values, seconds = zip(*rows, strict=True)
    times = pa.array([None if s is None else s * 1_000_000 for s in seconds], pa.int64()).view(INSTANT)
    return pa.record_batch([pa.array(keys, pa.string()), pa.array(values, pa.int64()), times], ["k", "v", "ts"])


def _process(work: PackedWork, *batches: pa.RecordBatch) -> pa.Table:
    made: Iterator[pa.RecordBatch] = work.process("files", lambda _: iter(batches))
    return pa.Table.from_batches(list(made))


def _panes(packed: pa.Table) -> list[tuple[object, ...]]:
    """Return key, window start, count and sum of what the buckets make of packed rows, at the end of time."""
    found = []
    for row in packed.to_pylist():
        if row["rows"] is not None:
            out = _OPERATOR.step(_OPERATOR.empty(), decode_rows(row["rows"]), Clock(Clock.END, 0)).out
            found += [tuple(column[i].as_py() for column in out.columns[:5]) for i in range(out.num_rows)]
    return sorted(((k, s, n, t) for k, s, _, n, t in found), key=repr)


def test_partial_results_give_the_panes_of_the_rows() -> None:
    packed = _process(_work(), _batch(("a", 1, 1), ("b", 2, 2), ("a", 3, 11)), _batch(("a", 4, 5), (None, 5, 7)))
    assert set(packed.column("bucket").to_pylist()) <= set(bucket_keys(_BUCKETS))
    assert _panes(packed) == sorted([("a", 0, 2, 5), ("a", 10_000, 1, 3), ("b", 0, 1, 2), (None, 0, 1, 5)], key=repr)
    assert [m for m in packed.column("mark").cast(pa.int64()).to_pylist() if m is not None] == [11_000_000]
    assert [m for m in packed.column("least").cast(pa.int64()).to_pylist() if m is not None] == [1_000_000]
    assert [n for n in packed.column("read").to_pylist() if n is not None] == [5]
    assert set(packed.column("__split").to_pylist()) == {"files"}


def test_time_comes_in_rows_like_those_of_a_slice() -> None:
    work = _work()
    told = pa.Table.from_batches(list(work.told(TimeMessage(4_000, 9_000))))
    assert told.schema == _process(work, _batch(("a", 1, 1))).schema
    *ticks, beat = told.to_pylist()
    assert [(t["bucket"], t["now"], t["beat"]) for t in ticks] == [(g, 9_000, None) for g in bucket_keys(_BUCKETS)]
    assert beat["now"] is None
    assert told.column("beat").cast(pa.int64()).to_pylist()[-1] == 4_000_000
    # Neither is a row of the input: nothing of it is observed.
    for name in ("rows", "mark", "least", "read", "times", "__split"):
        assert told.column(name).null_count == told.num_rows
    assert pa.Table.from_batches(work.told(TimeMessage(4_000))).num_rows == 1
    assert pa.Table.from_batches(work.told(TimeMessage(None, 9_000))).num_rows == _BUCKETS


def test_rows_that_a_filter_takes_away_move_the_watermark_still() -> None:
    packed = _process(_work(least=100), _batch(("a", 1, 1), ("b", 2, 2)))
    (row,) = packed.to_pylist()
    assert row["rows"] is None
    assert row["read"] == 2
    assert packed.column("mark").cast(pa.int64()).to_pylist() == [2_000_000]


def test_nothing_comes_of_nothing() -> None:
    assert list(_work().process("files", lambda _: iter(()))) == []


def test_a_rowtime_that_is_null_fails_or_is_dropped() -> None:
    batch = _batch(("a", 1, None), ("a", 2, 3))
    with pytest.raises(SqlExtError) as raised:
        _process(_work(), batch)
    assert raised.value.code == "RUN-001"
    packed = _process(_work(nulls="drop"), batch)
    assert _panes(packed) == [("a", 0, 1, 2)]
    assert packed.column("read").to_pylist() == [1]


def test_a_rowtime_before_1970_fails() -> None:
    with pytest.raises(SqlExtError) as raised:
        _process(_work(), _batch(("a", 1, -1)))
    assert raised.value.code == "RUN-002"


_ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(-5, 5), st.integers(0, 40)), min_size=1, max_size=8
)


def _shared(*works: PackedWork) -> SharedWork:
    return SharedWork(tuple(Together(work, (Share(number),)) for number, work in enumerate(works)))


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=4), st.lists(_ROWS, max_size=4))
def test_shared_rows_are_those_of_each_work_alone(
    least: list[int], pieces: list[list[tuple[str | None, int, int]]]
) -> None:
    """Each work has its own filter, and its own marks and counts."""
    works, batches = tuple(_work(each) for each in least), [_batch(*rows) for rows in pieces]
    shared = list(_shared(*works).process("files", lambda _: iter(batches)))
    for number, work in enumerate(works):
        mine = [row for batch in shared for row in batch.to_pylist() if row.pop(MEMBER) == number]
        assert {row.pop(FAILURE) for row in mine} <= {None}
        assert mine == [row for batch in work.process("files", lambda _: iter(batches)) for row in batch.to_pylist()]


def _known(lowest: int, highest: int) -> dict[str, ColumnBounds]:
    times = pa.array([1_000_000, 2_000_000], pa.int64()).view(INSTANT)
    return {"v": ColumnBounds(pa.array([lowest, highest], pa.int64()), 0), "ts": ColumnBounds(times, 0)}


@pytest.mark.parametrize(("highest", "passed"), [(9, True), (10, False), (20, False)])
def test_rows_are_passed_over_where_no_work_needs_them(highest: int, passed: bool) -> None:
    """They count for all works, or for none."""
    asked = []

    def read(passes: Passes | None) -> Iterator[pa.RecordBatch]:
        assert passes is not None
        asked.append(passes(_known(0, highest), 7))
        return iter(())

    rows = [r for b in _shared(_work(20), _work(10)).process("files", read) for r in b.to_pylist()]
    assert asked == [passed]
    assert [(r[MEMBER], r["read"]) for r in rows] == ([(0, 7), (1, 7)] if passed else [])


def test_nothing_is_passed_over_beside_a_work_without_filter() -> None:
    plain = Program(None, None, ((Stage(_SELECTED),),))
    asked: list[Passes | None] = []

    def read(passes: Passes | None) -> Iterator[pa.RecordBatch]:
        asked.append(passes)
        return iter(())

    list(_shared(_work(20), PackedWork(plain, _OPERATOR, 1, _BUCKETS)).process("files", read))
    assert asked == [None]


def test_a_work_that_fails_ends_alone() -> None:
    """The others have all their rows; its own failure is told last."""
    early, late = _batch(("a", 1, 1)), _batch(("a", 2, None))
    works = (_work(nulls="fail"), _work(nulls="drop"))
    rows = [r for b in _shared(*works).process("files", lambda _: iter([early, late, early])) for r in b.to_pylist()]
    failed = (0, 0, "[RUN-001] rowtime t.ts is NULL")
    assert [(r[MEMBER], r["read"], r[FAILURE]) for r in rows] == [(1, 2, None), failed]
