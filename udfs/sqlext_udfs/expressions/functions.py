"""Functions of columns that Arrow computes exactly as Spark does under ANSI rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.expressions.casts import low_bits, widened
from sqlext_udfs.kernel.arrow_numpy import column_of, known, numbers

INSTANT, WALL_CLOCK = pa.timestamp("us", "UTC"), pa.timestamp("us")
_MICROS = 1000


def _millis(of: pa.DataType, instants: pa.Array) -> pa.Array:
    """Return milliseconds since 1970, rounded down as Spark does before 1970 too."""
    return column_of(numbers(instants) // _MICROS, of, known(instants))


def _from_epoch(micros: int) -> Callable[[pa.DataType, pa.Array], pa.Array]:
    """Return a function of numbers since 1970 to instants."""
    return lambda of, count: pc.multiply_checked(count.cast(pa.int64()), micros).view(of)


FUNCTIONS: Mapping[str, Callable[..., pa.Array]] = {
    "narrowed": lambda of, value: low_bits(value, of),
    # A view, not a cast: microseconds of both types are the same 64 bits.
    "shifted": lambda of, time, by: pc.add_checked(time.view(pa.int64()), by).view(of),
    "cast": lambda of, value: widened(value, of),
    "checked cast": lambda of, value: value.cast(of),
    "not": lambda of, value: pc.invert(value.cast(of)),
    "is null": lambda of, value: value.is_null(),
    "is not null": lambda of, value: value.is_valid(),
    "is true": lambda of, value: pc.fill_null(value.cast(of), False),
    "is false": lambda of, value: pc.fill_null(pc.invert(value.cast(of)), False),
    "unix_millis": _millis,
    "timestamp_millis": _from_epoch(_MICROS),
    "timestamp_seconds": _from_epoch(_MICROS * 1000),
    # Callers read wall clocks as UTC, where they have the bits of their instants.
    "as instant": lambda of, wall: wall.view(pa.int64()).view(of),
    "as wall clock": lambda of, instant: instant.view(pa.int64()).view(of),
}
