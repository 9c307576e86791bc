"""Of several panes of one key and window in a micro-batch, only the last: all that a table kept by key can show."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.altered import Altered
from sqlext_udfs.kernel.equality import first_rows
from sqlext_udfs.kernel.operator import BucketOperator, State
from sqlext_udfs.kernel.row_kinds import LATE_ROW, UPDATE_BEFORE
from sqlext_udfs.windows.specification import PANE_COLUMNS

#: Where ``row_kind`` stands, from the end: behind it are the late row and its watermark.
_KIND = -3
assert PANE_COLUMNS[-1][0] == "row_kind"


class Latest(Altered[State]):
    """A window operator whose superseded panes do not come out, nor the rows that take back.

    Args:
        operator: the window operator.
        keys: how many of its first output columns are the key; the window's start and end stand behind them.
    """

    def __init__(self, operator: BucketOperator[State], keys: int) -> None:
        super().__init__(operator)
        self._named = keys + 2

    def altered(self, out: pa.Table) -> pa.Table:
        """Return the last rows alone."""
        if not out.num_rows:
            return out
        kinds = out.column(out.num_columns + _KIND)
        late = out.filter(pc.equal(kinds, LATE_ROW))
        panes = out.filter(pc.less(kinds, LATE_ROW))
        panes = panes.filter(pc.not_equal(panes.column(panes.num_columns + _KIND), UPDATE_BEFORE))
        backwards = panes.take(np.arange(panes.num_rows - 1, -1, -1))
        last = backwards.take(first_rows(backwards.select(range(self._named))))
        return pa.concat_tables([last, late])
