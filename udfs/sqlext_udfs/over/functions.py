"""Which functions can stand before OVER, beside all accumulators.

| function | result | what is kept of a key |
|---|---|---|
| an accumulator over ROWS or RANGE n | its result | the rows that frames still reach |
| an accumulator, unbounded | its result | its partial result |
| the same with DISTINCT | its result | the values seen, and the partial result of them |
| row_number | BIGINT, from 1 | how many rows there were |
| rank | BIGINT: 1 + how many rows have an earlier time | the same |
| dense_rank | BIGINT: how many times there are up to the row's | how many times there were |
| lag | the value ``offset`` rows before the frame's last row, NULL where there is none | these rows |

The frame of LAG goes up to the row, or with RANGE to the last of its peers: so peers have one value, as in Flink,
which adds all rows of a time before it asks for a result.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sqlext_udfs.over.aggregates import Aggregated, Growing
from sqlext_udfs.over.function import OverFunction
from sqlext_udfs.over.places import Lag, Numbered
from sqlext_udfs.over.specification import OverCall, OverSpecification

NUMBERS = ("row_number", "rank", "dense_rank")


def over_function(call: OverCall, types: Sequence[pa.DataType]) -> OverFunction:
    """Return the function of a call over columns of some types.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """
    if call.function in NUMBERS:
        return Numbered(call.function)
    if call.function == "lag":
        return Lag(call, types[call.inputs[0]])
    if call.distinct and call.frame.preceding is None:
        return Growing(call, types)
    return Aggregated(call, types)


def output_types(specification: OverSpecification, types: Sequence[pa.DataType]) -> list[pa.DataType]:
    """Return the type of each column that comes out: values, the results of each call, ``row_kind``.

    An accumulator may have several results (``variance``: n, mean, m2). The table calls them ``c0``, ``c1``, ...

    Args:
        specification: what is computed.
        types: of the columns that go in.

    Raises:
        SqlExtError: FUNC-022 as above.
    """
    results = [t for call in specification.calls for t in over_function(call, types).output_types]
    return [*(types[i] for i in specification.values), *results, pa.int8()]
