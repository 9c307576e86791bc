"""List all accumulators: what each keeps of its rows, and what it gives.

Every accumulator has three steps on whole columns. ``start`` makes one partial result for each group of rows, ``merge``
one for each group of partial results. ``finish`` turns partial results into output columns. Any split of the rows gives
the same result, in arrival order where order matters; sums of floating-point numbers up to rounding.

| function | partial result | result | exact | order |
|---|---|---|---|---|
| count | BIGINT | BIGINT, 0 without rows | yes | |
| sum | BIGINT, DECIMAL(min(38, p + 10), s), DOUBLE | the same, NULL without values | but DOUBLE; overflow: RUN-035 | |
| min, max (bool_and, bool_or) | the value | the value; NaN is largest | yes | |
| bit_and, bit_or, bit_xor | the bits | the same | yes | |
| variance | n, mean, m2 | these | up to rounding | |
| covariance | n, mean_x, mean_y, cxy, m2x, m2y | these | up to rounding | |
| first, last | place of arrival, value | the value; ``ignore_nulls`` (default) or not | yes | arrival |
| min_by, max_by | place of arrival, key, value | the value; of equal keys the first that came | yes | arrival |
| collect_list (listagg) | list of values (, list of their places) | list, empty without values | yes | arrival |
| collect_set | list of different values | list | yes | |
| percentile, percentile_disc | list of values | DOUBLE, or the value; ``percentage`` | yes | |
| mode | list of values | the value; of several the least | yes | |
| approx_count_distinct | list of different values | BIGINT | yes | |
| python (a user's) | its state as bytes; without merge the rows | what it returns | | without merge: arrival |
| any of one input, ``distinct`` | list of different values | that of the function | as the function | |

No function takes NULL for a value. All of them merge, so sessions may grow together. The meaning of a partial result's
columns is part of the state: to change one, raise the version of the state that holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from sqlext.errors import SqlExtError, did_you_mean
from sqlext_udfs.aggregates.accumulator import Accumulator, AggregateCall, Types
from sqlext_udfs.aggregates.lists import Collect, Mode, Percentile
from sqlext_udfs.aggregates.moments import Covariance, Variance
from sqlext_udfs.aggregates.numeric import Bits, Count, extreme_of, sum_of
from sqlext_udfs.aggregates.ordered import FirstLast, MinMaxBy
from sqlext_udfs.aggregates.python import PYTHON, of_python
from sqlext_udfs.aggregates.sets import DistinctValues
from sqlext_udfs.kernel.order import can_rank

_PAIRS = 2


def accumulator(aggregate: AggregateCall, types: Types, *, places: bool = False) -> Accumulator:
    """Return the accumulator of an aggregate over inputs of some types.

    Args:
        aggregate: what is wanted.
        types: of its inputs.
        places: whether partial results can meet that are not one after the other in the order of arrival.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """
    make = _MAKERS.get(aggregate.function)
    if make is None:
        message = f"there is no accumulator `{aggregate.function}`"
        raise SqlExtError("FUNC-022", message, hint=did_you_mean(aggregate.function, _MAKERS))
    # DISTINCT of lists and sets is the set itself; around others it keeps a set of its own.
    made = _distinct(aggregate, types) if aggregate.distinct else make(aggregate, types, places)
    if made is None:
        names = ", ".join(str(t) for t in types)
        distinct = "DISTINCT " if aggregate.distinct else ""
        raise SqlExtError("FUNC-022", f"accumulator `{aggregate.function}` cannot take ({distinct}{names})")
    return made


def _distinct(aggregate: AggregateCall, types: Types) -> Accumulator | None:
    if len(types) != 1:
        return None
    if aggregate.function in _LISTS:
        return DistinctValues(types[0], None)
    # It runs once, over the whole set at the end, so it needs no places of arrival.
    return DistinctValues(types[0], accumulator(replace(aggregate, distinct=False), types))


def _edge(aggregate: AggregateCall, types: Types, *, last: bool) -> Accumulator:
    return FirstLast(types[0], last=last, skips_nulls=bool(aggregate.parameter("ignore_nulls", True)))


def _by(types: Types, *, largest: bool) -> Accumulator | None:
    return MinMaxBy(types[0], types[1], largest=largest) if len(types) == _PAIRS and can_rank(types[1]) else None


def _percentile(aggregate: AggregateCall, types: Types, *, discrete: bool) -> Accumulator | None:
    share = float(aggregate.parameter("percentage", 0.5))
    if discrete:
        return Percentile(types[0], share, discrete=True) if can_rank(types[0]) else None
    numeric = pa.types.is_integer(types[0]) or pa.types.is_floating(types[0]) or pa.types.is_decimal(types[0])
    return Percentile(types[0], share, discrete=False) if numeric else None


Maker = Callable[[AggregateCall, Types, bool], "Accumulator | None"]
# Functions whose result is a list: of different values it is their set.
_LISTS = ("collect_list", "listagg", "collect_set")
_MAKERS: dict[str, Maker] = {
    "count": lambda aggregate, types, places: Count(),
    "sum": lambda aggregate, types, places: sum_of(types[0]),
    "min": lambda aggregate, types, places: extreme_of("min", types[0]),
    "max": lambda aggregate, types, places: extreme_of("max", types[0]),
    "bool_and": lambda aggregate, types, places: extreme_of("min", types[0]),
    "bool_or": lambda aggregate, types, places: extreme_of("max", types[0]),
    "bit_and": lambda aggregate, types, places: Bits.of("bit_and", types[0]),
    "bit_or": lambda aggregate, types, places: Bits.of("bit_or", types[0]),
    "bit_xor": lambda aggregate, types, places: Bits.of("bit_xor", types[0]),
    "variance": lambda aggregate, types, places: Variance(),
    "covariance": lambda aggregate, types, places: Covariance(),
    "first": lambda aggregate, types, places: _edge(aggregate, types, last=False),
    "last": lambda aggregate, types, places: _edge(aggregate, types, last=True),
    "min_by": lambda aggregate, types, places: _by(types, largest=False),
    "max_by": lambda aggregate, types, places: _by(types, largest=True),
    "collect_list": lambda aggregate, types, places: Collect(types[0], places=places),
    "listagg": lambda aggregate, types, places: Collect(types[0], places=places),
    "collect_set": lambda aggregate, types, places: DistinctValues(types[0], None),
    "percentile": lambda aggregate, types, places: _percentile(aggregate, types, discrete=False),
    "percentile_disc": lambda aggregate, types, places: _percentile(aggregate, types, discrete=True),
    "median": lambda aggregate, types, places: _percentile(aggregate, types, discrete=False),
    "mode": lambda aggregate, types, places: Mode(types[0]) if can_rank(types[0]) else None,
    "approx_count_distinct": lambda aggregate, types, places: DistinctValues(types[0], Count()),
    PYTHON: lambda aggregate, types, places: of_python(aggregate, types, places=places),
}
