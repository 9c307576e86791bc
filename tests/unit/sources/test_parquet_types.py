"""Columns of Parquet files that other writers have typed otherwise, and that are read without loss."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.parquet_decoder import ParquetDecoder, fits
from sqlext.sources.file_slices import Range


@pytest.mark.parametrize("own", [pa.string(), pa.large_string(), pa.string_view()])
def test_texts(own: pa.DataType) -> None:
    assert fits(own, pa.string())
    assert not fits(own, pa.binary())


@pytest.mark.parametrize("own", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_bytes(own: pa.DataType) -> None:
    assert fits(own, pa.binary())
    assert not fits(own, pa.string())


@pytest.mark.parametrize(
    ("types", "most"),
    [
        ([pa.int64(), pa.int32()], (1 << 19) - 20_000),
        ([pa.decimal128(20)] * 4, 1 << 18),
        ([pa.int64()] * 3, (1 << 23) // 24),
        ([pa.string()], 1 << 18),
        ([], (1 << 19) - 20_000),
    ],
)
def test_the_rows_of_a_batch(types: Sequence[pa.DataType], most: int, tmp_path: Path) -> None:
    """Columns of few bytes come in long batches; of texts nobody knows the bytes."""
    path, rows = tmp_path / "0.parquet", (1 << 20) + 5
    columns = tuple(ArrowField(f"c{i}", of) for i, of in enumerate(types))
    pq.write_table(
        pa.table({"other": pa.nulls(rows, pa.bool_())} | {c.name: pa.nulls(rows, c.type) for c in columns}), path
    )
    sizes = [b.num_rows for b in ParquetDecoder(columns).read(Range(str(path), 0, path.stat().st_size))]
    assert max(sizes) == most
    assert sum(sizes) == rows
