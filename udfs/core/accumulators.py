"""What a window keeps of its rows for each aggregate: partial results that can be joined.

Every accumulator has three steps on whole columns: ``start`` makes one partial result for each group of rows,
``merge`` one for each group of partial results, ``finish`` turns partial results into output columns. Any split of the
rows gives the same result (of floating-point sums: up to rounding), in arrival order where order matters.

| function | partial result | result | exact | order |
|---|---|---|---|---|
| count | BIGINT | BIGINT, 0 without rows | yes | |
| sum | BIGINT, DECIMAL(min(38, p + 10), s), DOUBLE | the same, NULL without values | but DOUBLE; overflow: RUN-035 | |
| min, max | the value | the value; NaN is largest | yes | |

NULL is no value to any function. All of them merge, so sessions may grow together. What the columns of a partial
result mean is part of the state: changing one needs a new version in bucket_state.py.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlext.errors import SqlExtError, did_you_mean
from sqlext.udfs.core import accumulators_numeric as numeric
from sqlext.udfs.core.accumulator import Accumulator, Aggregate, Types


def accumulator(aggregate: Aggregate, types: Types) -> Accumulator:
    """Return the accumulator of an aggregate over inputs of some types.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """
    make = _MAKERS.get(aggregate.function)
    if make is None:
        message = f"there is no accumulator `{aggregate.function}`"
        raise SqlExtError("FUNC-022", message, hint=did_you_mean(aggregate.function, _MAKERS))
    made = make(aggregate, types)
    if made is None:
        names = ", ".join(str(t) for t in types)
        raise SqlExtError("FUNC-022", f"accumulator `{aggregate.function}` cannot take ({names})")
    return made


Maker = Callable[[Aggregate, Types], Accumulator | None]
_MAKERS: dict[str, Maker] = {
    "count": lambda aggregate, types: numeric.Count(),
    "sum": lambda aggregate, types: numeric.sum_of(types[0]),
    "min": lambda aggregate, types: numeric.extreme_of("min", types[0]),
    "max": lambda aggregate, types: numeric.extreme_of("max", types[0]),
}
