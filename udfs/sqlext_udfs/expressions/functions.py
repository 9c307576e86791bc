"""Functions of columns that Arrow computes exactly as Spark does under ANSI rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.expressions.casts import low_bits, tried_decimal, widened
from sqlext_udfs.expressions.text_functions import TEXT_FUNCTIONS, first
from sqlext_udfs.kernel.arrow_numpy import Values, column_of, known, numbers

INSTANT, WALL_CLOCK = pa.timestamp("us", "UTC"), pa.timestamp("us")
_MICROS = 1000
_MAX, _TWO_TO_63 = 2**63 - 1, 2.0**63
_MICROS_A_DAY, _DAY_OF_YEAR_10000 = 86_400_000_000, 2_932_897


def _millis(of: pa.DataType, instants: pa.Array) -> pa.Array:
    """Return milliseconds since 1970, rounded down as Spark does before 1970 too."""
    return column_of(numbers(instants) // _MICROS, of, known(instants))


def _from_epoch(micros: int) -> Callable[[pa.DataType, pa.Array], pa.Array]:
    """Return a function of numbers since 1970 to instants."""
    return lambda of, count: pc.multiply_checked(count.cast(pa.int64()), micros).view(of)


def _date(of: pa.DataType, times: pa.Array) -> pa.Array:
    """Return the day of a wall clock, rounded down as Spark does before 1970 too."""
    return column_of((numbers(times) // _MICROS_A_DAY).astype(np.int32), of, known(times))


def _time_text(of: pa.DataType, times: pa.Array) -> pa.Array:
    """Return wall clocks as texts whose fraction has no zeros at its end."""
    # Arrow writes all six digits, so zeros at the end are those of the fraction.
    texts = pc.utf8_rtrim(pc.utf8_rtrim(times.view(pa.timestamp("us")).cast(of), characters="0"), characters=".")
    return _with_sign(texts, numbers(times) // _MICROS_A_DAY)


def _date_text(of: pa.DataType, dates: pa.Array) -> pa.Array:
    return _with_sign(dates.cast(of), numbers(dates))


def _with_sign(texts: pa.Array, days: Values) -> pa.Array:
    """Return texts of times with a plus before years of more than four digits, as Java writes them."""
    far = days >= _DAY_OF_YEAR_10000
    return pc.if_else(pa.array(far), pc.binary_join_element_wise("+", texts, ""), texts) if far.any() else texts


def _window(of: pa.DataType, times: pa.Array, size: pa.Array, slide: pa.Array, start: pa.Array) -> pa.Array:
    """Return the window of each time that begins last; sizes are in microseconds."""
    micros = numbers(times)
    begin = micros - (micros - int(first(start))) % (int(first(slide)) or 1)
    bounds = (column_of(side, pa.int64(), known(times)).view(times.type) for side in (begin, begin + int(first(size))))
    return pa.StructArray.from_arrays(list(bounds), fields=of.fields)


def _earlier(of: pa.DataType, windows: pa.Array, by: pa.Array) -> pa.Array:
    """Return windows that begin so many microseconds before others."""
    bounds = (pc.subtract(side.view(pa.int64()), by).view(side.type) for side in windows.flatten())
    return pa.StructArray.from_arrays(list(bounds), fields=of.fields)


def _wall_clock(of: pa.DataType, instants: pa.Array, zone: pa.Array) -> pa.Array:
    """Return what clocks in a zone show at instants."""
    if not len(instants):
        return instants.view(pa.int64()).view(of)
    return pc.local_timestamp(instants.view(pa.int64()).view(pa.timestamp("us", first(zone))))


def _instant(of: pa.DataType, walls: pa.Array, zone: pa.Array) -> pa.Array:
    """Return when clocks in a zone show times, by the shift that they had before a change of it, as Java does."""
    if not len(walls):
        return walls.view(pa.int64()).view(of)
    # In a gap this is the instant just before it, which has the shift that is wanted.
    near = pc.assume_timezone(walls, first(zone), ambiguous="earliest", nonexistent="earliest")
    shift = pc.subtract(pc.local_timestamp(near).view(pa.int64()), near.view(pa.int64()))
    return pc.subtract(walls.view(pa.int64()), shift).view(of)


def _field(part: Callable[[pa.Array], pa.Array]) -> Callable[[pa.DataType, pa.Array], pa.Array]:
    """Return a function of times to one of their fields."""
    return lambda of, times: part(times).cast(of)


def _floored(of: pa.DataType, values: pa.Array, rounded: Callable[[Values], Values]) -> pa.Array:
    """Return whole numbers as Java's cast makes them: the nearest BIGINT, 0 of what is no number."""
    whole = rounded(numbers(values))
    inside = np.where(np.abs(whole) < _TWO_TO_63, whole, 0).astype(np.int64)
    at_limit = np.where(whole >= _TWO_TO_63, _MAX, np.where(whole <= -_TWO_TO_63, -_MAX - 1, inside))
    return column_of(at_limit, of, known(values))


def _between(of: pa.DataType, start: pa.Array, end: pa.Array, size: pa.Array) -> pa.Array:
    """Return how many whole units lie between two times; a part of one counts for nothing on either side of zero."""
    micros = pc.subtract_checked(end.view(pa.int64()), start.view(pa.int64()))
    return pc.divide(micros, int(first(size)) or 1)


FUNCTIONS: Mapping[str, Callable[..., pa.Array]] = {
    **TEXT_FUNCTIONS,
    "narrowed": lambda of, value: low_bits(value, of),
    # A view, not a cast: microseconds of both types are the same 64 bits.
    "shifted": lambda of, time, by: pc.add_checked(time.view(pa.int64()), by).view(of),
    "cast": lambda of, value: widened(value, of),
    "tried decimal": lambda of, value: tried_decimal(value, of),
    "checked cast": lambda of, value: value.cast(of),
    "not": lambda of, value: pc.invert(value.cast(of)),
    "is null": lambda of, value: value.is_null(),
    "is not null": lambda of, value: value.is_valid(),
    "is true": lambda of, value: pc.fill_null(value.cast(of), False),
    "is false": lambda of, value: pc.fill_null(pc.invert(value.cast(of)), False),
    "plain text": lambda of, value: value.cast(of),
    "bytes": lambda of, text: text.cast(of),
    "time text": _time_text,
    "date text": _date_text,
    "date": _date,
    "pmod": lambda of, value, by: column_of(numbers(value) % (int(first(by)) or 1), of, known(value)),
    "window": _window,
    "earlier": _earlier,
    "wall clock": _wall_clock,
    "instant": _instant,
    "later": lambda of, time, by: pc.add_checked(time.view(pa.int64()), pc.multiply_checked(by, _MICROS)).view(of),
    "midnight": lambda of, dates: dates.cast(pa.timestamp("us")).view(pa.int64()).view(of),
    "between": _between,
    "truncated": lambda of, times, unit: pc.floor_temporal(times, unit=first(unit) or "day").cast(of),
    "abs": lambda of, value: pc.abs_checked(value),
    "sqrt": lambda of, value: pc.sqrt(value),
    "floor": lambda of, value: _floored(of, value, np.floor),
    "ceil": lambda of, value: _floored(of, value, np.ceil),
    "remainder": lambda of, value, by: column_of(np.fmod(numbers(value), int(first(by)) or 1), of, known(value)),
    "week": _field(pc.iso_week),
    "doy": _field(pc.day_of_year),
    "dow": lambda of, times: pc.day_of_week(times, count_from_zero=False, week_start=7).cast(of),
    "dayofweek_iso": lambda of, times: pc.day_of_week(times, count_from_zero=False, week_start=1).cast(of),
    "year": _field(pc.year),
    "quarter": _field(pc.quarter),
    "month": _field(pc.month),
    "day": _field(pc.day),
    "hour": _field(pc.hour),
    "minute": _field(pc.minute),
    "unix_millis": _millis,
    "timestamp_millis": _from_epoch(_MICROS),
    "timestamp_seconds": _from_epoch(_MICROS * 1000),
    # Callers read wall clocks as UTC, where they have the bits of their instants.
    "as instant": lambda of, wall: wall.view(pa.int64()).view(of),
    "as wall clock": lambda of, instant: instant.view(pa.int64()).view(of),
}
