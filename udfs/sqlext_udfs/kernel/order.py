"""Turn the order of values into numbers, as Spark orders them.

NULL is before all values, NaN after all numbers; structs are ordered by their fields.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import known
from sqlext_udfs.kernel.groups import Ints


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
