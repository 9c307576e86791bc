"""How much partial work is done before rows travel, and that it makes no difference to what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel import partial_work
from sqlext_udfs.kernel.altered import Selected
from sqlext_udfs.kernel.clock import Clock
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.kernel.partial_work import PartialWork
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.panes.columns import is_partial
from sqlext_udfs.windows.policy import Hop, Policy, Session, Tumble
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import AfterWatermark

_BUCKETS = 4
_PIECE = 64
_TYPES = [pa.int64(), pa.int64(), pa.int64()]
_SUMS = (AggregateCall("count"), AggregateCall("sum", (2,)))


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_work, "PATIENCE", _PIECE)


def _operator(window: Any, aggregates: Sequence[AggregateCall] = _SUMS) -> WindowOperator:
    policy = Policy(window, AfterWatermark())
    return WindowOperator(WindowSpecification(1, policy, tuple(aggregates), time=1), _TYPES)


def _batches(keys: Sequence[int], size: int = 16) -> list[pa.RecordBatch]:
    """Return rows of keys, one a second, with their places as values."""
    places = range(len(keys))
    columns = {"c0": list(keys), "c1": [i * 1000 for i in places], "c2": list(places)}
    buckets = pa.array([k % _BUCKETS for k in keys], pa.int16())
    return list(pa.table({**columns, "bucket": buckets}).to_batches(size))


def _buckets(table: pa.Table) -> Any:
    return np.asarray(table.column(table.num_columns - 1).to_numpy(), np.int64)


def _leaving(operator: BucketOperator[Any], batches: list[pa.RecordBatch]) -> Iterator[pa.Table]:
    work = PartialWork(operator, _buckets)
    for batch in batches:
        yield from (table for table, _ in work.take(batch))
    yield from (table for table, _ in work.rest())


def _out(operator: BucketOperator[Any], tables: Sequence[pa.Table]) -> list[Any]:
    """Return what comes out of all buckets at the end of time."""
    rows = []
    for bucket in range(_BUCKETS):
        mine = [t.filter(pa.array(_buckets(t) == bucket)).remove_column(t.num_columns - 1) for t in tables]
        step = operator.step(operator.empty(), operator.gathered(mine), Clock(Clock.END, None, 0))
        rows += step.out.to_pylist()
    return sorted(rows, key=repr)


def test_few_groups_leave_once_at_the_end() -> None:
    (table,) = _leaving(_operator(Tumble(10_000_000)), _batches([1, 2, 3] * 400))
    assert is_partial(table)
    assert table.num_rows == 3


def test_pieces_grow_where_more_rows_of_a_group_meet_in_larger_ones() -> None:
    """Each key four times, spread over all rows: in a piece of 64 there are nearly as many keys as rows."""
    keys = list(range(50)) * 4 + list(range(50, 250)) * 4
    (table,) = _leaving(_operator(Tumble(10_000_000)), _batches(keys))
    assert is_partial(table)
    assert table.num_rows == 250


def test_rows_of_groups_of_their_own_leave_as_they_are() -> None:
    tables = list(_leaving(_operator(Tumble(10_000_000)), _batches(list(range(5000)))))
    assert sum(table.num_rows for table in tables) == 5000
    assert [table.num_rows for table in tables if is_partial(table)] == [_PIECE]  # from which this was learned


def test_the_bytes_that_are_kept_back_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_work, "_MOST_BYTES", _PIECE * 100)
    tables = list(_leaving(_operator(Tumble(10_000_000)), _batches(list(range(5000)))))
    assert max(table.num_rows for table in tables) <= 5 * _PIECE


def test_rows_whose_order_counts_do_not_leave_without_it() -> None:
    operator = _operator(Tumble(10_000_000), [AggregateCall("collect_list", (2,))])
    assert not operator.takes_rows
    assert all(map(is_partial, _leaving(operator, _batches(list(range(1000))))))


@pytest.mark.parametrize("window", [Tumble(7_000), Hop(9_000, 3_000), Session(2_000)], ids=lambda w: type(w).__name__)
@settings(max_examples=40, deadline=None)
@given(groups=st.lists(st.sampled_from([2, 40, 10_000]), min_size=1, max_size=12), seed=st.integers(0, 1000))
def test_what_comes_out_is_that_of_all_rows(window: Any, groups: list[int], seed: int) -> None:
    """Rows of few keys, some and many by turns, so that results and rows meet in a bucket."""
    random = np.random.default_rng(seed)
    keys = [int(k) for most in groups for k in random.integers(0, most, 150)]
    operator = _operator(window)
    rows = pa.Table.from_batches(_batches(keys))
    assert _out(operator, list(_leaving(operator, _batches(keys)))) == _out(operator, [rows])


def test_columns_that_nobody_asks_for_do_not_come_out() -> None:
    operator = _operator(Tumble(10_000))
    batches = _batches([5])
    (row,) = _out(Selected(operator, [0, 3]), list(_leaving(operator, batches)))
    assert row == {"c0": 5, "c1": 1}


def test_pieces_without_rows_are_passed_over() -> None:
    """A filter leaves none, also of the last piece, where each row was a group of its own."""
    operator, rows = _operator(Tumble(1000)), _batches(range(_PIECE))
    with_none = [rows[0].slice(0, 0), *rows, rows[0].slice(0, 0)]
    assert _out(operator, list(_leaving(operator, with_none))) == _out(operator, list(_leaving(operator, rows)))
