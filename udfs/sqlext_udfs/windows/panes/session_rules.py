"""Say how rows become sessions: their gap, and what joins what."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.arrow_numpy import integers, whole
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.windows.panes.columns import EARLIEST, LATEST, reduced
from sqlext_udfs.windows.panes.pieces import times_of
from sqlext_udfs.windows.panes.session_windows import Sessions, cells, sessions


@dataclass(frozen=True, slots=True)
class SessionRules:
    """How rows become sessions.

    Attributes:
        time: position of the rowtime (ms, UTC).
        gap: position of each row's gap (ms), where ``fixed`` is None.
        fixed: the gap of all rows (ms).
        touching: whether sessions that touch are one.
        own_window: whether lateness is judged on a row's own window, before it joins others.
    """

    time: int
    gap: int | None
    fixed: int | None
    touching: bool
    own_window: bool

    def windows(self, rows: pa.Table) -> tuple[Ints, Ints]:
        """Return start and end of each row's own window.

        Raises:
            SqlExtError: RUN-036 for a row without time, RUN-037 for one without gap.
        """
        times = times_of(rows, self.time)
        if self.fixed is not None:
            return times, times + self.fixed
        assert self.gap is not None
        return times, times + gaps_of(rows, self.gap)

    def sessions(self, keys: Groups, starts: Ints, ends: Ints) -> Sessions:
        """Return the sessions of some windows."""
        return sessions(keys, starts, ends, touching=self.touching)

    def sessions_of_rows(self, keys: Groups, starts: Ints, ends: Ints) -> Sessions:
        """Return the same for many windows that may lie close together (see ``cells``)."""
        inner = cells(keys, starts, int((ends - starts).min())) if len(starts) else None
        if inner is None:
            return self.sessions(keys, starts, ends)
        # One interval for each cell: fewer to sort than rows.
        cell_keys = Groups(keys.ids[inner.first()], keys.count)
        made = self.sessions(cell_keys, reduced(EARLIEST, starts, inner), reduced(LATEST, ends, inner))
        return Sessions(Groups(made.groups.ids[inner.ids], made.groups.count), made.starts, made.ends)


def gaps_of(rows: pa.Table, place: int) -> Ints:
    """Return a column of session gaps.

    Raises:
        SqlExtError: RUN-037 if one is NULL or not positive.
    """
    # 0 for NULL, so that one test finds both.
    gaps = integers(whole(rows.column(place)).fill_null(0))
    if (gaps <= 0).any():
        raise SqlExtError(
            "RUN-037",
            "a row's session gap is NULL or not positive",
            hint="make it at least one millisecond, for instance by COALESCE and GREATEST",
        )
    return gaps
