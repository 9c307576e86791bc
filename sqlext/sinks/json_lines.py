"""Write rows as lines of JSON, as Spark's writer does."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext.sources.java_numbers import java_double

#: Jackson writes these with upper-case digits, Python with lower-case ones.
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|.)")


def can_be_json(of: pa.DataType) -> bool:
    """Return whether values of a type are written here; times must be texts by now."""
    if pa.types.is_list(of):
        return can_be_json(of.value_type)
    if pa.types.is_struct(of):
        return all(can_be_json(f.type) for f in of)
    plain = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_float64, pa.types.is_string, pa.types.is_date32)
    return any(test(of) for test in (*plain, pa.types.is_float32, pa.types.is_decimal128, pa.types.is_binary))


def json_lines(rows: pa.Table, *, ignores_null: bool) -> Iterator[str]:
    """Yield each row as a line.

    Args:
        ignores_null: whether fields that are NULL are left out.
    """
    names = [_text(name) for name in rows.column_names]
    columns = [list(map(_writer(c.type, ignores_null), c.to_pylist())) for c in rows.columns]
    for values in zip(*columns, strict=True):
        yield f"{_object(names, values, ignores_null)}\n"


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
