"""Columns of Parquet files that other writers have typed otherwise, and that are read without loss."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sqlext.sources.decoding.parquet_decoder import fits


@pytest.mark.parametrize("own", [pa.string(), pa.large_string(), pa.string_view()])
def test_texts(own: pa.DataType) -> None:
    assert fits(own, pa.string())
    assert not fits(own, pa.binary())


@pytest.mark.parametrize("own", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_bytes(own: pa.DataType) -> None:
    assert fits(own, pa.binary())
    assert not fits(own, pa.string())
