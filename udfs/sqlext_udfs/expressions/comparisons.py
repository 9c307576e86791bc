"""Comparisons of whole columns: numbers by their values, rows and lists by their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.expressions.casts import common_type, widened
from sqlext_udfs.kernel.arrow_numpy import Values, numbers, table_of
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import codes
from sqlext_udfs.kernel.order import ranks

_KERNELS: Mapping[str, Callable[..., Any]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
OPERATORS: Mapping[str, Callable[[Values, Values], Any]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
EQUALITY = ("=", "<>")


def compared(op: str, left: pa.Array, right: pa.Array, *, nan_is_largest: bool) -> pa.Array:
    """Return whether values compare so: NULL if one of them is, unless ``op`` is ``<=>``."""
    if op == "<=>":
        neither = pc.and_(left.is_null(), right.is_null())
        return pc.or_(neither, pc.fill_null(compared("=", left, right, nan_is_largest=nan_is_largest), False))
    of = common_type((left.type, right.type))
    if pa.types.is_null(left.type) or pa.types.is_null(right.type):
        return pa.nulls(len(left), pa.bool_())
    left, right = widened(left, of), widened(right, of)
    if not pa.types.is_nested(of) and not (pa.types.is_floating(of) and nan_is_largest):
        return _KERNELS[op](left, right)
    nested = pa.types.is_nested(of)
    values = OPERATORS[op](*in_order(op, left, right)) if nested else _floats(op, numbers(left), numbers(right))
    unknown = pc.or_(left.is_null(), right.is_null())
    return pa.array(values, mask=np.asarray(unknown.to_numpy(zero_copy_only=False)))


def in_order(op: str, left: pa.Array, right: pa.Array) -> tuple[Values, Values]:
    """Return numbers that compare as the values of two columns of one type do."""
    # Numbered together: numbers of two columns that were ranked apart would not compare.
    both = normalised(table_of([pa.concat_arrays([left, right])])).column(0).combine_chunks()
    values = codes(both)[0] if op in EQUALITY else ranks(both)
    return values[: len(left)], values[len(left) :]


def _floats(op: str, left: Values, right: Values) -> Any:
    """Return a comparison for which NaN is one number, the largest."""
    with np.errstate(invalid="ignore"):
        plain = OPERATORS[op](left, right)
    nans = np.isnan(left), np.isnan(right)
    either = nans[0] | nans[1]
    # With a NaN on a side, ``is NaN`` as 0 or 1 compares as the values should: NaN is above all numbers.
    return np.where(either, OPERATORS[op](nans[0].astype(np.int8), nans[1].astype(np.int8)), plain)
