"""Columns of numbers as other types of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from sqlext_udfs.expressions.numbers import Policy
from sqlext_udfs.expressions.trees import Number
from sqlext_udfs.kernel.arrow_numpy import column_of, known, numbers

_BIGINT_DIGITS = 19
_MOST_DIGITS, _ALL_DIGITS = 38, 76
_TYPES: Mapping[str, pa.DataType] = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
}


def arrow_type(of: Number) -> pa.DataType:
    """Return a numeric type as Arrow's."""
    return pa.decimal128(of.precision, of.scale) if of.root == "DECIMAL" else _TYPES[of.root]


def number_type(of: pa.DataType) -> Number:
    """Return a type of Arrow as a numeric one."""
    if pa.types.is_decimal(of):
        return Number("DECIMAL", of.precision, of.scale)
    return next(Number(root) for root, known_type in _TYPES.items() if known_type == of)


def common_type(types: Iterable[pa.DataType]) -> pa.DataType:
    """Return the type that holds the values of branches: theirs, or of numbers the widest."""
    found = {t for t in types if not pa.types.is_null(t)}
    if len(found) <= 1:
        return next(iter(found), pa.null())
    if any(pa.types.is_floating(t) for t in found):
        return pa.float64()
    if any(pa.types.is_decimal(t) for t in found):
        scales = [t.scale if pa.types.is_decimal(t) else 0 for t in found]
        before = [t.precision - t.scale if pa.types.is_decimal(t) else _BIGINT_DIGITS for t in found]
        digits = max(scales) + max(before)
        return pa.decimal128(digits, max(scales)) if digits <= _MOST_DIGITS else pa.decimal256(_ALL_DIGITS, max(scales))
    return max(found, key=lambda t: t.bit_width)


def widened(column: pa.Array, of: pa.DataType) -> pa.Array:
    """Return values as a type that holds them; as floating-point numbers the nearest ones."""
    if column.type == of:
        return column
    if pa.types.is_decimal(column.type) and pa.types.is_floating(of):
        return column.cast(pa.string()).cast(of)  # Arrow's own cast is not always the nearest
    if pa.types.is_integer(column.type) and pa.types.is_decimal(of):
        column = column.cast(pa.decimal128(_BIGINT_DIGITS, 0))
    return column.cast(of, safe=not pa.types.is_floating(of))


def low_bits(column: pa.Array, of: pa.DataType) -> pa.Array:
    """Return the low bits of integers, as Java's casts do: they wrap around."""
    return column_of(numbers(column).astype(np.dtype(of.to_pandas_dtype())), of, known(column))


def narrowed(column: pa.Array, of: pa.DataType, policy: Policy) -> pa.Array:
    """Return integers as those of another type.

    Raises:
        SqlExtError: RUN-041 for one that is too large, unless it wraps around.
    """
    if column.type == of:
        return column
    if policy.wraps:
        return low_bits(column, of)
    try:
        return column.cast(of)
    except pa.ArrowInvalid as error:
        raise policy.too_large(number_type(of).root) from error
