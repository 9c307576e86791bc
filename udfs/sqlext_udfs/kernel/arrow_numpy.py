"""Turn Arrow columns into numpy arrays and back, without making floats of integers with NULLs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.groups import Bools, Ints

Values = npt.NDArray[Any]
_BITS_32 = 32


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def integers(column: pa.Array | pa.ChunkedArray) -> Ints:
    """Return a column of integers without NULLs."""
    return np.asarray(whole(column).to_numpy(), np.int64)


def has_numbers(of: pa.DataType) -> bool:
    """Return whether the values of a type lie in memory as numbers that order as the values do."""
    return storage(of) is not None


def storage(of: pa.DataType) -> pa.DataType | None:
    """Return the numeric type as which a type lies in memory, or None."""
    if pa.types.is_integer(of) or pa.types.is_float32(of) or pa.types.is_float64(of):
        return of
    if pa.types.is_boolean(of):
        return pa.uint8()
    if pa.types.is_temporal(of):
        return pa.int32() if of.bit_width == _BITS_32 else pa.int64()
    return None


def numbers(column: pa.Array) -> Values:
    """Return the values of a type that has numbers; 0 for NULL."""
    of = storage(column.type)
    # Arrow packs booleans into bits; only these cannot be read where they lie.
    column = column.cast(of) if pa.types.is_boolean(column.type) else column.view(of)
    if column.null_count:
        column = column.fill_null(0)
    return np.asarray(column.to_numpy())


def known(column: pa.Array) -> Bools | None:
    """Return which values are not NULL; None for all."""
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False)) if column.null_count else None


def column_of(values: Values, of: pa.DataType, present: Bools | None = None) -> pa.Array:
    """Return what ``numbers`` was given: a column of a type that has numbers.

    Args:
        values: the numbers.
        of: the type.
        present: which are not NULL; None for all.
    """
    mask = None if present is None or present.all() else ~present
    column = pa.array(values, storage(of), mask=mask)
    return column.cast(of) if pa.types.is_boolean(of) else column.view(of)


def taken(column: pa.Array, places: Ints) -> pa.Array:
    """Return the values at some places; NULL where the place is negative."""
    # Arrow takes NULL at a NULL place, and refuses a negative one.
    absent = places < 0
    return pc.take(column, pa.array(places, mask=absent) if absent.any() else pa.array(places))


def table_of(columns: Sequence[pa.Array]) -> pa.Table:
    """Return a table of columns that are known by position; they are called ``c0``, ``c1``, ..."""
    return pa.table(list(columns), [f"c{i}" for i in range(len(columns))])
