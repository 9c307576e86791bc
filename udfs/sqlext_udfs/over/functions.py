"""List the functions that can stand before OVER: accumulators, and functions of a row's place.

| function | result | what is kept of a key |
|---|---|---|
| an accumulator over ROWS or RANGE n | its result | the rows that frames still reach |
| an accumulator, unbounded | its result | its partial result |
| the same with DISTINCT | its result | the values seen, and the partial result of them |
| row_number | BIGINT, from 1 | how many rows there were |
| rank | BIGINT: 1 + how many rows have an earlier time | the same |
| dense_rank | BIGINT: how many times there are up to the row's | how many times there were |
| lag | the value ``offset`` rows before the frame's last row, NULL where there is none | these rows |
| lead | the value so many rows behind the row as its frame goes, NULL where there is none | nothing |

The frame of LAG goes up to the row, or with RANGE to the last of its peers. So peers have one value, as in Flink, which
adds all rows of a time before it asks for a result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Columns
from sqlext_udfs.kernel.arrow_numpy import integers, taken
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.over.aggregates import Aggregated, Growing
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import FrameBounds
from sqlext_udfs.over.function import Evaluated, FrameFunction, FrameReach
from sqlext_udfs.over.specification import OverCall, OverSpecification

# The functions that number rows; their frames are always unbounded.
NUMBERS = ("row_number", "rank", "dense_rank")


def over_function(call: OverCall, types: Sequence[pa.DataType]) -> FrameFunction:
    """Return the function of a call over columns of some types.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """
    if call.function in NUMBERS:
        return Numbered(call.function)
    if call.function == "lag":
        return Lag(call, types[call.inputs[0]])
    if call.function == "lead":
        return Lead(call, types[call.inputs[0]])
    # A bounded frame computes its set anew from blocks; one without a beginning must remember it.
    if call.distinct and call.frame.preceding is None:
        return Growing(call, types)
    return Aggregated(call, types)


def output_types(specification: OverSpecification, types: Sequence[pa.DataType]) -> list[pa.DataType]:
    """Return the type of each column that comes out: values, the results of each call, ``row_kind``.

    Where late rows come out, ``late_row`` and ``late_watermark`` stand before ``row_kind``.

    An accumulator may have several results (``variance``: n, mean, m2). The table calls them ``c0``, ``c1``, ...

    Args:
        specification: what is computed.
        types: of the columns that go in.

    Raises:
        SqlExtError: FUNC-022 as above.
    """
    results = [t for call in specification.calls for t in over_function(call, types).output_types]
    late = [] if specification.row is None else [types[specification.row], pa.int64()]
    return [*(types[i] for i in specification.values), *results, *late, pa.int8()]


class Numbered(FrameFunction):
    """``row_number``, ``rank`` or ``dense_rank``, by time.

    Args:
        name: which of them.
    """

    def __init__(self, name: str) -> None:
        super().__init__((), (pa.int64(),), (pa.int64(),), FrameReach())
        self._name = name

    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the number of each row."""
        timeline = bounds.timeline
        start = _known(before)
        first, rows = timeline.fresh, timeline.rows
        peers, _ = timeline.peers
        # Places run through all rows of the step: the distance from the key's first one is the number.
        count = start + rows - first + 1
        if self._name == "dense_rank":
            times = np.cumsum(np.concatenate([np.zeros(1, np.int64), rows == peers]))
            at = np.searchsorted(rows, first)
            count = numbers = start + times[1:] - times[at]
        else:
            numbers = count if self._name == "row_number" else start + peers - first + 1
        return Evaluated([pa.array(numbers)], [pa.array(count[timeline.ends])])


class Lag(FrameFunction):
    """``lag``: NULL where there is no such row, or where its value is NULL.

    Args:
        call: with ``offset`` among its parameters, by default 1.
        of: the value's type.
    """

    def __init__(self, call: OverCall, of: pa.DataType) -> None:
        self._offset = int(call.parameter("offset", 1))
        self._frame = call.frame
        super().__init__(call.inputs, (of,), (), FrameReach(rows=self._offset))

    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the value some rows before."""
        _, high = bounds.of(self._frame)
        # Counted from the last row of the frame, so that peers have one value.
        places = high - 1 - self._offset
        there = places >= bounds.timeline.starts
        return Evaluated([taken(inputs[0], np.where(there, places, -1))], [])


class Lead(FrameFunction):
    """``lead``: NULL where there is no such row, or where its value is NULL.

    Args:
        call: its frame goes as many rows behind the row as the value lies.
        of: the value's type.
    """

    def __init__(self, call: OverCall, of: pa.DataType) -> None:
        self._offset = call.frame.following
        super().__init__(call.inputs, (of,), (), FrameReach())

    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the value some rows behind."""
        places = bounds.timeline.rows + self._offset
        return Evaluated([taken(inputs[0], np.where(places < bounds.timeline.stops, places, -1))], [])


def _known(before: Before) -> Ints:
    """Return the number kept of the key of each row, 0 for none."""
    return integers(taken(before.partials[0], before.places).fill_null(0))
