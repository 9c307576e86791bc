"""Join intervals of a key to sessions that have a maximum length.

In the order of their starts, an interval joins the session before it if it starts within reach of its intervals, and
less than the maximum behind its first one. Else it begins a session. So a session depends on what lies before its end,
and on nothing behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sqlext_udfs.kernel.groups import Groups, Ints, dense
from sqlext_udfs.windows.panes.session_windows import Sessions, sessions


def limited_sessions(keys: Groups, starts: Ints, ends: Ints, limit: int, *, touching: bool) -> Sessions:
    """Return the sessions of intervals.

    Args:
        keys: the key of each interval.
        starts, ends: its bounds, in milliseconds; never empty.
        limit: the greatest length of a session (ms).
        touching: whether an interval joins one that ends where it starts.
    """
    whole = sessions(keys, starts, ends, touching=touching)
    long = whole.ends - whole.starts > limit
    if not long.any():
        return whole
    ids = whole.groups.ids
    cut = np.flatnonzero(long[ids])
    order = cut[np.lexsort((starts[cut], ids[cut]))]
    first, last = starts[order], ends[order]
    borders = np.flatnonzero(np.diff(ids[order])) + 1
    heads: list[int] = []
    reach: list[int] = []
    for begin, stop in zip([0, *borders.tolist()], [*borders.tolist(), len(order)], strict=True):
        for head, end in _cuts(first[begin:stop], last[begin:stop], limit, touching=touching):
            heads.append(begin + head)
            reach.append(end)
    begins = np.zeros(len(order), np.int64)
    begins[heads] = 1
    pieces = ids.copy()
    # Behind all numbers of whole sessions, so that ``dense`` leaves the pieces in their order behind those.
    pieces[order] = whole.groups.count + np.cumsum(begins) - 1
    return Sessions(
        dense(pieces, whole.groups.count + len(heads)),
        np.concatenate([whole.starts[~long], first[heads]]),
        np.concatenate([whole.ends[~long], np.array(reach, np.int64)]),
    )


def _cuts(starts: Ints, ends: Ints, limit: int, *, touching: bool) -> Iterator[tuple[int, int]]:
    """Yield the first interval and the end of each session of intervals that are sorted by their starts."""
    head = 0
    while head < len(starts):
        most = int(starts[head]) + limit
        stop = head + int(np.searchsorted(starts[head:], most))
        reach = np.maximum.accumulate(ends[head:stop])
        after = starts[head + 1 : stop]
        gaps = np.flatnonzero(after > reach[:-1] if touching else after >= reach[:-1]) + 1
        begin = 0
        for gap in gaps.tolist():
            yield head + begin, int(reach[gap - 1])
            begin = gap
        if begin:
            # The last session that begins here may have intervals behind ``most``: no other gap is looked at twice.
            head += begin
            continue
        yield head, min(int(reach[-1]), most)
        head = stop
