"""List the functions of rows whose whole partition is there.

| function | result |
|---|---|
| those of ``functions`` | the same |
| ntile | BIGINT: which of ``n`` parts, from 1; the first parts have one row more where it does not come out even |
| percent_rank | DOUBLE: how many rows are before the first equal one, of all but one; 0 where there is one row |
| cume_dist | DOUBLE: how many rows are up to the last equal one, of all |
| nth_value | the value of the ``n``-th row of the frame, NULL where there is none |

Their frames have bounds, as far as they go: nothing is kept of a partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Columns
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import FrameBounds
from sqlext_udfs.over.function import Evaluated, FrameFunction, FrameReach
from sqlext_udfs.over.functions import over_function
from sqlext_udfs.over.specification import OverCall
from sqlext_udfs.over.timeline import Timeline

Numbers = npt.NDArray[Any]


def partition_function(call: OverCall, types: Sequence[pa.DataType]) -> FrameFunction:
    """Return the function of a call over columns of some types.

    Raises:
        SqlExtError: FUNC-022 for a function that there is not, or not for these types.
    """
    if call.function == "nth_value":
        return NthValue(call, types[call.inputs[0]])
    if call.function == "ntile":
        return Placed(_ntile(int(call.parameter("n"))), pa.int64())
    if call.function in _SHARES:
        return Placed(_SHARES[call.function], pa.float64())
    return over_function(call, types)


class Placed(FrameFunction):
    """A function of a row's place in its partition.

    Args:
        of: computes it of the rows.
        type_: of its result.
    """

    def __init__(self, of: Callable[[Timeline], Numbers], type_: pa.DataType) -> None:
        self._of = of
        super().__init__((), (type_,), (), FrameReach())

    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the result of each row."""
        return Evaluated([pa.array(self._of(bounds.timeline), self.output_types[0])], [])


class NthValue(FrameFunction):
    """``nth_value``.

    Args:
        call: with ``n`` among its parameters.
        of: the value's type.
    """

    def __init__(self, call: OverCall, of: pa.DataType) -> None:
        self._n = int(call.parameter("n"))
        self._frame = call.frame
        super().__init__(call.inputs, (of,), (), FrameReach())

    def evaluate(self, inputs: Columns, bounds: FrameBounds, before: Before) -> Evaluated:
        """Return the value of a row of each frame."""
        low, high = bounds.of(self._frame)
        places = low + self._n - 1
        return Evaluated([taken(inputs[0], np.where(places < high, places, -1))], [])


def _ntile(parts: int) -> Callable[[Timeline], Numbers]:
    def of(timeline: Timeline) -> Numbers:
        least, more = np.divmod(timeline.stops - timeline.starts, parts)
        place = timeline.rows - timeline.starts
        longer = more * (least + 1)
        made: Numbers = np.where(place < longer, place // (least + 1), more + (place - longer) // np.maximum(least, 1))
        return made + 1

    return of


def _percent_rank(timeline: Timeline) -> Numbers:
    others = timeline.stops - timeline.starts - 1
    made: Numbers = (timeline.peers[0] - timeline.starts) / np.maximum(others, 1)
    return made


def _cume_dist(timeline: Timeline) -> Numbers:
    made: Numbers = (timeline.peers[1] - timeline.starts) / (timeline.stops - timeline.starts)
    return made


_SHARES = {"percent_rank": _percent_rank, "cume_dist": _cume_dist}
