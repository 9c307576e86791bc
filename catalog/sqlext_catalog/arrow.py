"""Turn rows of the catalog's Delta table into Arrow and back. Imports pyarrow: import it late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pyarrow as pa
from pyarrow.parquet import ParquetFile, write_table

from sqlext_catalog.rows import Row

_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
_PAIRS = pa.map_(_TEXT, _TEXT)

_COLUMN = pa.struct(
    [
        ("name", _TEXT),
        ("kind", _TEXT),
        ("data_type", _TEXT),
        ("type", _TEXT),
        ("expression", _TEXT),
        ("metadata_key", _TEXT),
        ("virtual", pa.bool_()),
        ("comment", _TEXT),
    ]
)

_RUN = pa.struct(
    [
        ("statement", _TEXT),
        ("reads", _TEXTS),
        ("writes", _TEXT),
        ("checkpoint", _TEXT),
        ("fingerprint", _TEXT),
        ("status", _TEXT),
        ("watermark", pa.int64()),
        ("started", pa.int64()),
    ]
)

SCHEMA = pa.schema(
    [
        ("kind", _TEXT),
        ("catalog", _TEXT),
        ("database", _TEXT),
        ("name", _TEXT),
        ("comment", _TEXT),
        ("columns", pa.list_(_COLUMN)),
        ("watermark", pa.struct([("column", _TEXT), ("expression", _TEXT)])),
        ("primary_key", pa.struct([("name", _TEXT), ("columns", _TEXTS)])),
        ("partitioned_by", _TEXTS),
        ("options", _PAIRS),
        ("expressions", _TEXT),
        ("query", _TEXT),
        ("resolved_in", pa.struct([("catalog", _TEXT), ("database", _TEXT)])),
        ("run", _RUN),
    ]
)


def to_arrow(rows: Sequence[Row]) -> Any:
    """Return rows as an Arrow table."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def to_parquet(rows: Any) -> bytes:
    """Return an Arrow table as the bytes of a data file."""
    sink = pa.BufferOutputStream()
    # Nobody looks for single rows: statistics and dictionaries would only take time.
    write_table(rows, sink, use_dictionary=False, write_statistics=False)
    return cast(bytes, sink.getvalue().to_pybytes())


def read_parquet(data: bytes) -> list[Row]:
    """Return the rows of a data file from its bytes.

    ParquetFile and not read_table: the latter goes through pyarrow.dataset, which imports pandas (150 ms).
    """
    with ParquetFile(pa.BufferReader(data)) as file:
        return cast(list[Row], file.read(use_threads=False).to_pylist())
