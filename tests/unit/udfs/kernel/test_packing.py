"""Rows on their way to a bucket and back."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sqlext_udfs.distinct import DistinctOperator
from sqlext_udfs.kernel import packing, partial_work
from sqlext_udfs.kernel.bucket_keys import bucket_keys
from sqlext_udfs.kernel.packing import pack, tables, unpack
from sqlext_udfs.kernel.spark_hash import hash_of_int

_KEYS = (100, 101, 102, 103)


def _batches(values: list[int], size: int) -> list[pa.RecordBatch]:
    table = pa.table({"a": values, "bucket": pa.array([v % 4 for v in values], pa.int16())})
    return list(table.to_batches(size))


def _rows(packed: list[pa.RecordBatch]) -> dict[int, list[int]]:
    """Return the values of each bucket, by its key."""
    found: dict[int, list[int]] = {}
    for batch in packed:
        for key, cell in zip(batch["bucket"].to_pylist(), batch["rows"], strict=True):
            one = pa.record_batch([pa.array([cell.as_py()])], ["rows"])
            rows = [v for b in unpack([one]) for v in b["a"].to_pylist()]
            found.setdefault(key, []).extend(rows)
    return found


def test_each_bucket_gets_its_rows_once_in_order() -> None:
    packed = list(pack(DistinctOperator(), _KEYS, _batches([9, 5, 2, 9, 1, 6, 5], 3)))
    assert _rows(packed) == {101: [9, 5, 1], 102: [2, 6]}


def test_no_rows_pack_to_nothing() -> None:
    assert list(pack(DistinctOperator(), _KEYS, [])) == []
    assert list(pack(DistinctOperator(), _KEYS, _batches([], 3))) == []


class _Nothing(DistinctOperator):
    """Partial work after which nothing is left, as of changes that cancel each other out."""

    def partial(self, rows: pa.Table) -> pa.Table:
        return rows.slice(0, 0)


def test_rows_of_which_partial_work_leaves_none_pack_to_no_bucket() -> None:
    assert _rows(list(pack(_Nothing(), _KEYS, _batches([1, 2], 3)))) == {}


def test_few_different_rows_wait_for_the_end_and_many_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_work, "PATIENCE", 10)
    monkeypatch.setattr(partial_work, "_MOST_BYTES", 1)
    assert len(list(pack(DistinctOperator(), _KEYS, _batches([1, 2, 3] * 20, 5)))) == 1
    packed = list(pack(DistinctOperator(), _KEYS, _batches(list(range(60)), 5)))
    assert len(packed) == 6
    assert sum(len(rows) for rows in _rows(packed).values()) == 60


def test_a_large_result_leaves_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_ROWS", 2)
    assert len(list(tables(pa.table({"a": range(5)})))) == 3


def test_the_hash_is_sparks() -> None:
    # SELECT hash(0), hash(1), hash(42), hash(2147483647), read as unsigned
    assert [hash_of_int(n) for n in (0, 1, 42, 2**31 - 1)] == [933211791, 2**32 - 559580957, 29417773, 133916647]


@pytest.mark.parametrize("partitions", [2, 4, 8])
def test_buckets_spread_evenly(partitions: int) -> None:
    places = [hash_of_int(key) % partitions for key in bucket_keys(8)]
    assert {places.count(p) for p in range(partitions)} == {8 // partitions}
