"""Write rows as lines of JSON, as Spark's writer does."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.sources.java_numbers import java_double

#: Jackson writes these with upper-case digits, Python with lower-case ones.
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|.)")
#: What has no form of its own in a text.
_ODD = r'[\x00-\x1f"\\]'
_BLANK, _QUOTE, _BACKSLASH = b' "\\'
_MOST_PLAIN = 6
#: How many rows are made at once: their texts stay below the 2 GB of a column.
_ROWS = 1 << 15


def can_be_json(of: pa.DataType) -> bool:
    """Return whether values of a type are written here; times must be texts by now."""
    if pa.types.is_list(of):
        return can_be_json(of.value_type)
    if pa.types.is_struct(of):
        return all(can_be_json(f.type) for f in of)
    plain = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_float64, pa.types.is_string, pa.types.is_date32)
    return any(test(of) for test in (*plain, pa.types.is_float32, pa.types.is_decimal128, pa.types.is_binary))


def json_lines(rows: pa.Table, *, ignores_null: bool) -> Iterator[memoryview]:
    """Yield the rows as lines of UTF-8, many at a time.

    Args:
        ignores_null: whether fields that are NULL are left out.
    """
    for batch in rows.to_batches(max_chunksize=_ROWS):
        if batch.num_rows:
            yield _bytes_of(_objects(batch, ignores_null, "}\n"))


def json_texts(rows: pa.Table, *, ignores_null: bool) -> pa.ChunkedArray:
    """Return each row as a text; see ``json_lines``."""
    batches = rows.to_batches(max_chunksize=_ROWS)
    return pa.chunked_array([_objects(batch, ignores_null, "}") for batch in batches], pa.string())


def _objects(rows: pa.RecordBatch, ignores_null: bool, end: str) -> pa.Array:
    """Return each row as an object."""
    return _joined(rows.schema.names, rows.columns, ignores_null, end)


def _joined(names: Sequence[str], columns: Sequence[pa.Array], ignores_null: bool, end: str) -> pa.Array:
    """Return objects of some fields, of which each has a column of values; ``end`` is what stands behind them."""
    texts = [_text(name) for name in names]
    values = [_values(column, ignores_null) for column in columns]
    if ignores_null:
        # Each field has a comma behind it; the last one of an object goes.
        fields = [pc.binary_join_element_wise(f"{n}:", v, ",", "") for n, v in zip(texts, values, strict=True)]
        joined = pc.binary_join_element_wise(*fields, "", null_handling="replace", null_replacement="")
        return pc.binary_join_element_wise("{", pc.utf8_rtrim(joined, ","), end, "")
    parts: list[pa.Array | str] = []
    for number, (name, value) in enumerate(zip(texts, values, strict=True)):
        parts += [f"{',' if number else '{'}{name}:", value]
    return pc.binary_join_element_wise(*parts, end, "", null_handling="replace", null_replacement="null")


def _values(column: pa.Array, ignores_null: bool) -> pa.Array:
    """Return values as they stand in a line; NULL for what is NULL."""
    if pa.types.is_string(column.type):
        return pc.binary_join_element_wise('"', _escaped(column), '"', "")
    # Arrow writes DECIMALs near zero with an exponent, if they have more digits behind the point.
    short = pa.types.is_decimal128(column.type) and 0 <= column.type.scale <= _MOST_PLAIN
    if short or pa.types.is_boolean(column.type) or pa.types.is_integer(column.type):
        return column.cast(pa.string())
    if pa.types.is_date32(column.type):
        return pc.binary_join_element_wise('"', column.cast(pa.string()), '"', "")
    if pa.types.is_struct(column.type) and column.type.num_fields:
        return _rows(column, ignores_null)
    write = _writer(column.type, ignores_null)
    return pa.array([None if v is None else write(v) for v in column.to_pylist()], pa.string())


def _rows(column: pa.StructArray, ignores_null: bool) -> pa.Array:
    """Return rows within rows; NULL for what is NULL."""
    if column.null_count == len(column):  # as all rows before an insert are
        return pa.nulls(len(column), pa.string())
    made = _joined([field.name for field in column.type], column.flatten(), ignores_null, "}")
    return made if not column.null_count else pc.if_else(column.is_valid(), made, None)


def _escaped(texts: pa.Array) -> pa.Array:
    """Return texts as they stand between quotes."""
    data = np.frombuffer(_bytes_of(texts), np.uint8)
    if not np.any((data < _BLANK) | (data == _QUOTE) | (data == _BACKSLASH)):
        return texts
    odd = pc.fill_null(pc.match_substring_regex(texts, _ODD), False)
    written = [_text(text)[1:-1] for text in texts.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts, odd, pa.array(written, pa.string()))


def _bytes_of(texts: pa.Array) -> memoryview:
    """Return the texts of a column, one behind the other."""
    _, offsets, data = texts.buffers()
    if data is None:
        return memoryview(b"")
    ends = np.frombuffer(offsets, np.int32)
    return memoryview(data)[ends[texts.offset] : ends[texts.offset + len(texts)]]


def _object(names: list[str], values: tuple[str, ...], ignores_null: bool) -> str:
    fields = (f"{n}:{v}" for n, v in zip(names, values, strict=True) if not (ignores_null and v == "null"))
    return f"{{{','.join(fields)}}}"


def _writer(of: pa.DataType, ignores_null: bool) -> Callable[[Any], str]:
    """Return what writes a value of a type."""
    if pa.types.is_list(of):
        element = _writer(of.value_type, ignores_null)
        return _or_null(lambda values: f"[{','.join(map(element, values))}]")
    if pa.types.is_struct(of):
        names, writers = [_text(f.name) for f in of], [(f.name, _writer(f.type, ignores_null)) for f in of]
        return _or_null(lambda row: _object(names, tuple(w(row[n]) for n, w in writers), ignores_null))
    if pa.types.is_float32(of):
        return _or_null(lambda value: _double(value, np.float32))
    return _or_null(_value)


def _or_null(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "null" if value is None else write(value)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _double(value, float)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return _text(base64.b64encode(value).decode("ascii"))
    return _text(value.isoformat() if isinstance(value, date) else value) if not isinstance(value, int) else str(value)


def _double(value: float, of: Callable[[float], Any]) -> str:
    return java_double(of(value)) if math.isfinite(value) else _text(java_double(value))


def _text(value: str) -> str:
    return _ESCAPED.sub(_upper, json.dumps(value, ensure_ascii=False))


def _upper(escaped: re.Match[str]) -> str:
    digits = escaped.group(1)
    return escaped.group() if digits is None else f"\\u{digits.upper()}"
