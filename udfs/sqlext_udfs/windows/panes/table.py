"""Make the rows that come out of a window operator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import table_of
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import INSERT, LATE_ROW
from sqlext_udfs.windows.triggers.moment import MAX

_ON_TIME, _LATE = "ON_TIME", "LATE"


class PaneTable:
    """Make output tables.

    Args:
        types: name and type of each output column (``output_types``).
        keys: how many of them are keys.
    """

    def __init__(self, types: Sequence[tuple[str, pa.DataType]], keys: int) -> None:
        self._types = [of for _, of in types]
        self._keys = keys
        self.key_types = self._types[:keys]

    def none(self) -> pa.Table:
        """Return a table without rows."""
        return table_of([pa.nulls(0, of) for of in self._types])

    def only_panes(
        self,
        keys: Sequence[pa.Array],
        starts: Ints,
        ends: Ints,
        results: Sequence[pa.Array],
        late: Bools | None,
        *,
        timing: str = _ON_TIME,
    ) -> pa.Table:
        """Return a row for each window's only pane.

        Args:
            keys: its key.
            starts, ends: its bounds.
            results: the aggregates.
            late: whether its first row came behind the watermark (rule M9); None for no window.
            timing: what PANE_TIMING() is of the others.
        """
        rows = len(ends)
        timings = _constant(timing, pa.string(), rows)
        if late is not None and late.any():
            timings = pa.array(np.where(late, _LATE, timing), pa.string())
        zero, true = _constant(0, pa.int32(), rows), _constant(True, pa.bool_(), rows)
        # The only pane is the first and the last one, with index 0.
        panes = [zero, zero, timings, true, true, pa.array(ends - 1), _constant(INSERT, pa.int8(), rows)]
        no_row = [pa.nulls(rows, of) for of in self._types[-2:]]
        return table_of([*keys, pa.array(starts), pa.array(ends), *results, *panes, *no_row])

    def rows(
        self, keys: Sequence[pa.Array], starts: Ints, ends: Ints, columns: Sequence[pa.Array], kinds: Ints
    ) -> pa.Table:
        """Return rows of windows, or of none.

        Args:
            keys: their keys.
            starts, ends: the windows' bounds; the end is MAX without window.
            columns: aggregates, and what PANE_...() give.
            kinds: INSERT and so on.
        """
        windowless = ends == MAX
        bounds = [pa.array(b, mask=windowless) for b in (starts, ends)]
        no_row = [pa.nulls(len(kinds), of) for of in self._types[-2:]]
        return table_of([*keys, *bounds, *columns, pa.array(kinds.astype(np.int8)), *no_row])

    def late_rows(self, keys: Sequence[pa.Array], rows: pa.Array, watermark: int | None) -> pa.Table:
        """Return rows that came too late, with the watermark that they met; NULL if there was none yet."""
        # BEGIN is our own mark of no watermark, not a time.
        count, met = len(rows), None if watermark == Clock.BEGIN else watermark
        columns = [*keys, *(pa.nulls(count, of) for of in self._types[self._keys : -2])]
        columns[-1] = _constant(LATE_ROW, pa.int8(), count)
        return table_of([*columns, rows, _constant(met, pa.int64(), count)])


def _constant(value: object, of: pa.DataType, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, of), rows)
