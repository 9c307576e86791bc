"""Decide which rows are equal, as Spark's DISTINCT and GROUP BY do.

NULL equals NULL, NaN equals NaN whatever its bits, -0.0 equals 0.0, also inside structs and arrays.
As Spark's NormalizeFloatingNumbers, ``normalised`` gives NaN and 0.0 one form, and this form comes out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_types import has_floats

# The width of the numbers that stand for items of lists.
_ID_BYTES = 8


def normalised(table: pa.Table) -> pa.Table:
    """Return a table whose equal floating-point values have equal bits."""
    for position, field in enumerate(table.schema):
        if has_floats(field.type):
            table = table.set_column(position, field, _normal(_whole(table.column(position))))
    return table


def first_rows(table: pa.Table) -> pa.Array:
    """Return the position of the first of each set of equal rows of a normalised table, ascending."""
    keys = [groupable(c) if pa.types.is_nested(c.type) else c for c in table.columns]
    names = [str(i) for i in range(len(keys))]
    numbered = pa.table([*keys, pa.array(np.arange(table.num_rows))], [*names, "row"])
    # There is a worker per core already, so no threads. Groups come in nearly the order of their first rows.
    first = numbered.group_by(names, use_threads=False).aggregate([("row", "min")]).column("row_min")
    return pa.array(np.sort(first.to_numpy(), kind="stable"))


def _normal(column: pa.Array) -> pa.Array:
    of = column.type
    if pa.types.is_floating(of):
        # Both zeros equal 0.0. NaN equals nothing, so it is asked for by itself.
        column = pc.if_else(pc.equal(column, pa.scalar(0.0, of)), pa.scalar(0.0, of), column)
        return pc.if_else(pc.is_nan(column), pa.scalar(math.nan, of), column)
    if not has_floats(of):
        return column
    if pa.types.is_struct(of):
        fields = [of.field(i) for i in range(of.num_fields)]
        return pa.StructArray.from_arrays([_normal(c) for c in column.flatten()], fields=fields, mask=column.is_null())
    # New offsets: flatten leaves out what lies under NULL lists, so the old ones may not fit.
    offsets = pa.array(_offsets(column).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, _normal(column.flatten()), type=of, mask=column.is_null())


def groupable(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column that Arrow can group by (it cannot by structs and lists): equal where this one is."""
    column = _whole(column)
    if pa.types.is_struct(column.type):
        return _numbered([column.is_valid(), *(groupable(c) for c in column.flatten())])
    if pa.types.is_list(column.type):
        # The numbers of a list's items, read as bytes, are one binary value: equal where the lists are.
        items = _numbered([groupable(column.flatten())])
        offsets = pa.py_buffer(_offsets(column) * _ID_BYTES)
        texts = pa.Array.from_buffers(pa.large_binary(), len(column), [None, offsets, items.buffers()[1]])
        return pc.if_else(column.is_valid(), texts, pa.scalar(None, pa.large_binary()))
    return column


def _numbered(columns: Sequence[pa.Array]) -> pa.Array:
    """Return a number for each row, the same for equal rows."""
    numbers = pa.array(np.zeros(len(columns[0]), np.int64))
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        # Dense again after each column, so that the product stays below the square of the rows.
        both = pc.add(pc.multiply(numbers, len(encoded.dictionary)), encoded.indices.cast(pa.int64()))
        numbers = both.dictionary_encode().indices.cast(pa.int64())
    return numbers


def _offsets(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return where each list begins in ``column.flatten()``, and where the last one ends."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
