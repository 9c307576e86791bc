"""Give each different row of an unbounded input once: SELECT DISTINCT.

A row that came out stays true, so only inserts come out. Flink's changelog of such a query has only inserts too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.equality import first_rows, normalised
from sqlext_udfs.kernel.groups import numbered
from sqlext_udfs.kernel.lives import Lives
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup
from sqlext_udfs.kernel.table_codec import TableState


class DistinctOperator(TableState, BucketOperator[pa.Table]):
    """Let a row out when it first comes.

    The state is the table of all rows seen, in the order in which they came. With a time to live a last column has
    when each row last came (ms of the batch clock).

    Args:
        ttl: ms of processing time after which a row that did not come again is forgotten; None: never. A forgotten
            row comes out again.
    """

    def __init__(self, ttl: int | None = None) -> None:
        self._lives = Lives(ttl)

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the first of each set of equal rows."""
        rows = normalised(rows)
        return rows.take(first_rows(rows))

    def empty(self) -> pa.Table:
        """Return a table without rows, whose columns are not known yet."""
        return pa.table({})

    def step(self, state: pa.Table, rows: pa.Table | None, clock: Clock) -> StepResult[pa.Table]:
        """Keep all rows seen; those seen for the first time come out, in the order in which they came.

        Raises:
            SqlExtError: RUN-033 if the rows have not the columns of the state.
        """
        before = state = self._lives.alive(state, clock)
        state, written = self._lives.split(state)
        if rows is None:
            return StepResult(before, state.slice(0, 0))
        if not state.num_columns:
            state = rows.slice(0, 0)
        if not state.schema.equals(rows.schema):
            raise SqlExtError(
                "RUN-033",
                f"DISTINCT has seen rows of ({_types(state)}), not of ({_types(rows)})",
                hint="DROP QUERY starts the query anew",
            )
        # Known rows stand first, so the first of equal rows is new only if it lies behind them.
        together = pa.concat_tables([state, rows])
        first = first_rows(together)
        new = together.take(first.filter(pc.greater_equal(first, state.num_rows)))
        seen = pa.concat_tables([state, new]) if new.num_rows else state
        if self._lives.ttl is not None:
            columns = [whole(c) for c in pa.concat_tables([seen, rows]).columns]
            ids = numbered(columns, (), seen.num_rows + rows.num_rows).ids
            again = np.isin(ids[: seen.num_rows], ids[seen.num_rows :])
            seen = self._lives.joined(seen, written, np.arange(seen.num_rows), again, clock)
        return StepResult(seen, new)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def key_places(self, state: pa.Table) -> Sequence[int]:
        """Return where the columns stand that choose the bucket."""
        return range(state.num_columns - (self._lives.ttl is not None))

    def next_wakeup(self, state: pa.Table) -> Wakeup:
        """Return when the first row is forgotten."""
        return Wakeup(processing=self._lives.first_end(state))


def _types(table: pa.Table) -> str:
    return ", ".join(f"{f.name} {f.type}" for f in table.schema)
