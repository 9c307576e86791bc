"""Functions of a row's place among others: ROW_NUMBER, RANK, DENSE_RANK, LAG."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import Columns
from sqlext_udfs.kernel.arrow_numpy import integers, taken
from sqlext_udfs.kernel.groups import Ints
from sqlext_udfs.over.blocks import Before
from sqlext_udfs.over.bounds import Bounds
from sqlext_udfs.over.function import Evaluated, OverFunction, Reach
from sqlext_udfs.over.specification import OverCall


class Numbered(OverFunction):
    """``row_number``, ``rank`` or ``dense_rank``, by time."""

    def __init__(self, name: str) -> None:
        super().__init__((), (pa.int64(),), (pa.int64(),), Reach())
        self._name = name

    def evaluate(self, inputs: Columns, bounds: Bounds, before: Before) -> Evaluated:
        """Return the number of each row."""
        timeline = bounds.timeline
        start = _known(before)
        first, rows = timeline.fresh, timeline.rows
        peers, _ = timeline.peers
        count = start + rows - first + 1
        if self._name == "dense_rank":
            times = np.cumsum(np.concatenate([np.zeros(1, np.int64), rows == peers]))
            at = np.searchsorted(rows, first)
            count = numbers = start + times[1:] - times[at]
        else:
            numbers = count if self._name == "row_number" else start + peers - first + 1
        return Evaluated([pa.array(numbers)], [pa.array(count[timeline.ends])])


class Lag(OverFunction):
    """``lag``: a NULL is a value, and what there is where there is no such row."""

    def __init__(self, call: OverCall, of: pa.DataType) -> None:
        self._offset = int(call.parameter("offset", 1))
        self._frame = call.frame
        super().__init__(call.inputs, (of,), (), Reach(rows=self._offset))

    def evaluate(self, inputs: Columns, bounds: Bounds, before: Before) -> Evaluated:
        """Return the value some rows before."""
        _, high = bounds.of(self._frame)
        places = high - 1 - self._offset
        there = places >= bounds.timeline.starts
        return Evaluated([taken(inputs[0], np.where(there, places, -1))], [])


def _known(before: Before) -> Ints:
    """Return the number kept of the key of each row, 0 for none."""
    return integers(taken(before.partials[0], before.places).fill_null(0))
