"""Sessions on whole columns: intervals of a key that touch (or overlap) are one.

Intervals are sorted by key and start; a session begins where a start lies behind all ends before it. Keys are laid one
after the other on one axis of time, so that one running maximum serves all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlext.udfs.core.groups import Groups, Ints, dense

_AXIS = 1 << 62


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions.

    Attributes:
        groups: the session of each interval.
        starts, ends: their bounds, in milliseconds.
    """

    groups: Groups
    starts: Ints
    ends: Ints


def sessions(keys: Groups, starts: Ints, ends: Ints, *, touching: bool) -> Sessions:
    """Return the sessions of intervals.

    Args:
        keys: the key of each interval.
        starts, ends: its bounds, in milliseconds; never empty.
        touching: whether an interval joins one that ends where it starts (``session_gap = 'inclusive'``).
    """
    if not len(starts):
        return Sessions(Groups(starts, 0), starts, ends)
    origin = int(starts.min())
    length = int(ends.max()) - origin + 1
    if length * (keys.count + 1) >= _AXIS:
        return _by_ranks(keys, starts, ends, touching=touching)
    shift = keys.ids * length - origin
    order = np.argsort(starts + shift)
    first, reach = (starts + shift)[order], np.maximum.accumulate((ends + shift)[order])
    begins = np.ones(len(order), np.bool_)
    begins[1:] = first[1:] > reach[:-1] if touching else first[1:] >= reach[:-1]
    begins[1:] |= keys.ids[order[1:]] != keys.ids[order[:-1]]
    heads = np.flatnonzero(begins)
    tails = np.append(heads[1:], len(order)) - 1
    ids = np.empty(len(order), np.int64)
    ids[order] = np.cumsum(begins) - 1
    return Sessions(Groups(ids, len(heads)), starts[order[heads]], reach[tails] - shift[order[heads]])


def cells(keys: Groups, times: Ints, gap: int) -> Groups:
    """Return groups of times of a key that cannot be of two sessions: those in the same cell as wide as the gap.

    Grouping is cheaper than sorting, and leaves little to sort where a session has many rows.
    """
    numbers = times // gap
    numbers -= numbers.min() if len(numbers) else 0
    span = int(numbers.max()) + 1 if len(numbers) else 0
    if span * keys.count >= _AXIS:
        return Groups(np.arange(len(times)), len(times))
    return dense(keys.ids * span + numbers, keys.count * span)


def _by_ranks(keys: Groups, starts: Ints, ends: Ints, *, touching: bool) -> Sessions:
    """Return the same for times so far apart that keys do not fit on one axis: by the ranks of times."""
    times, ranks = np.unique(np.concatenate([starts, ends]), return_inverse=True)
    made = sessions(keys, ranks[: len(starts)], ranks[len(starts) :], touching=touching)
    return Sessions(made.groups, times[made.starts], times[made.ends])
