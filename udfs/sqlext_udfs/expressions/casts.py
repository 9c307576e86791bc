"""Columns of numbers as other types of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.expressions.numbers import Policy, type_name
from sqlext_udfs.expressions.trees import Number
from sqlext_udfs.kernel.arrow_numpy import column_of, known, numbers

_MOST_DIGITS, _ALL_DIGITS = 38, 76
#: Spark's rules, for what is computed in place of its SQL.
SPARK = Policy("the query", wraps=False)
#: Bits of an integer -> digits of the DECIMAL that Spark makes of it.
_INTEGRAL_DIGITS: Mapping[int, int] = {8: 3, 16: 5, 32: 10, 64: 20}
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
    """Return the type that holds the values of branches: theirs, or of numbers the widest.

    DECIMALs of over 38 digits together are cut before (``trees.Fitted``).
    """
    found = {t for t in types if not pa.types.is_null(t)}
    if len(found) <= 1:
        return next(iter(found), pa.null())
    if any(pa.types.is_floating(t) for t in found):
        return pa.float64()
    if any(pa.types.is_decimal(t) for t in found):
        digits = [_digits(t) for t in found]
        whole, scale = max(before for before, _ in digits), max(behind for _, behind in digits)
        return pa.decimal128(min(whole + scale, _MOST_DIGITS), min(scale, _MOST_DIGITS - whole))
    return max(found, key=lambda t: t.bit_width)


def _digits(of: pa.DataType) -> tuple[int, int]:
    """Return how many digits a number has before and behind the point."""
    return (of.precision - of.scale, of.scale) if pa.types.is_decimal(of) else (_INTEGRAL_DIGITS[of.bit_width], 0)


def widened(column: pa.Array, of: pa.DataType) -> pa.Array:
    """Return values as a common type: as floating-point numbers the nearest ones, as DECIMALs rounded half up.

    Raises:
        SqlExtError: RUN-041 for a DECIMAL that has too many digits when it is rounded.
    """
    if column.type == of:
        return column
    if pa.types.is_decimal(of):
        return _as_decimal(column, of)
    if pa.types.is_decimal(column.type) and pa.types.is_floating(of):
        return column.cast(pa.string()).cast(of)  # Arrow's own cast is not always the nearest
    return column.cast(of, safe=not pa.types.is_floating(of))


def _as_decimal(column: pa.Array, of: pa.DataType) -> pa.Array:
    if pa.types.is_integer(column.type):
        column = column.cast(pa.decimal128(_INTEGRAL_DIGITS[64] - 1, 0))
    if pa.types.is_decimal(column.type) and column.type.scale > of.scale:
        wide = column.cast(pa.decimal256(_ALL_DIGITS, column.type.scale))
        column = pc.round(wide, of.scale, round_mode="half_towards_infinity")
    try:
        return column.cast(of)
    except pa.ArrowInvalid as error:
        raise SPARK.too_large(type_name(number_type(of))) from error


def tried_decimal(column: pa.Array, of: pa.DataType) -> pa.Array:
    """Return exact numbers as DECIMALs, rounded half up; NULL where one has too many digits."""
    if pa.types.is_integer(column.type):
        column = column.cast(pa.decimal128(_INTEGRAL_DIGITS[64] - 1, 0))
    wide = column.cast(pa.decimal256(_ALL_DIGITS, max(column.type.scale, of.scale)))
    if column.type.scale > of.scale:
        wide = pc.round(wide, of.scale, round_mode="half_towards_infinity")
    most = pa.scalar(Decimal(10) ** (of.precision - of.scale), pa.decimal256(_MOST_DIGITS + 1, 0))
    return pc.if_else(pc.less(pc.abs(wide), most), wide, pa.scalar(None, wide.type)).cast(of)


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
