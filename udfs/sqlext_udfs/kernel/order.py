"""Turn the order of values into numbers, as Spark orders them.

NULL is before all values, NaN after all numbers; structs are ordered by their fields.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import known
from sqlext_udfs.kernel.groups import Ints, stable_order

#: Numbers stay below this to fit 64 bits.
_LARGEST = 1 << 62


def can_rank(of: pa.DataType) -> bool:
    """Return whether the order of a type is defined here."""
    if pa.types.is_struct(of):
        return all(can_rank(of.field(i).type) for i in range(of.num_fields))
    return not pa.types.is_nested(of)


def ranks(column: pa.Array) -> Ints:
    """Return a number for each value: less where the value is less, equal where it is equal; 0 for NULL."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    if pa.types.is_struct(column.type):
        return _struct_ranks(column)
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 and 0.0 are equal
    made = pc.rank(column, "ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    return _zero_for_null(made, column)


def ordered(columns: Sequence[Ints], *, last_first: bool = False) -> Ints:
    """Return the places of rows in the order of some numbers, the first column first.

    Args:
        columns: at least one.
        last_first: whether of equal rows the last one comes first.
    """
    if not len(columns[0]):
        return np.zeros(0, np.int64)
    # As one number a row takes a quarter of the time of a sort by each column.
    both = _as_one(columns)
    if both is None:
        arrival = np.arange(len(columns[0]))
        # The last key of lexsort sorts first.
        return np.lexsort((-arrival if last_first else arrival, *reversed(columns)))
    return len(both) - 1 - stable_order(both[::-1]) if last_first else stable_order(both)


def _as_one(columns: Sequence[Ints]) -> Ints | None:
    """Return a number for each row that sorts as some numbers do one after the other; None where none is so large."""
    both, values = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        least = int(column.min())
        span = int(column.max()) - least + 1
        values *= span
        if values >= _LARGEST:
            return None
        both = both * span + (column - least)
    return both


def _struct_ranks(column: pa.Array) -> Ints:
    made = np.zeros(len(column), np.int64)
    for field in column.flatten():
        of_field = ranks(field)
        # Dense again after each field: so numbers stay below the square of the rows.
        _, made = np.unique(made * (int(of_field.max(initial=0)) + 1) + of_field, return_inverse=True)
    return _zero_for_null(made.astype(np.int64) + 1, column)


def _zero_for_null(made: Ints, column: pa.Array) -> Ints:
    present = known(column)
    return made if present is None else np.where(present, made, 0)
