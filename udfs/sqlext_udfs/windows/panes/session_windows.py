"""Join intervals of a key to sessions, on whole columns.

Intervals are sorted by key and start. A session begins where a start lies behind all ends before it. Keys are laid one
after the other on one axis of time, so one running maximum serves all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlext_udfs.kernel.groups import Groups, Ints, dense, stable_order

# The axis of all keys must be shorter, for its times to fit 64 bits.
_AXIS = 1 << 62
# Cells are worth their making where this many rows fall into one.
_WORTH = 2


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of some intervals.

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
    # ``length`` is one more than all times span, so keys that are neighbours on the axis cannot touch.
    shift = keys.ids * length - origin
    order = stable_order(starts + shift)
    first, reach = (starts + shift)[order], np.maximum.accumulate((ends + shift)[order])
    begins = np.ones(len(order), np.bool_)
    begins[1:] = first[1:] > reach[:-1] if touching else first[1:] >= reach[:-1]
    begins[1:] |= keys.ids[order[1:]] != keys.ids[order[:-1]]
    heads = np.flatnonzero(begins)
    tails = np.append(heads[1:], len(order)) - 1
    ids = np.empty(len(order), np.int64)
    ids[order] = np.cumsum(begins) - 1
    return Sessions(Groups(ids, len(heads)), starts[order[heads]], reach[tails] - shift[order[heads]])


def cells(keys: Groups, times: Ints, width: int) -> Groups | None:
    """Return groups of times of a key that are of one session: those in a cell as wide as the least gap.

    Grouping is cheaper than sorting, and leaves little to sort where a session has many rows. None where it would not.
    """
    numbers = times // width
    numbers -= numbers.min()
    count = keys.count * (int(numbers.max()) + 1)
    if count * _WORTH > len(times):
        return None
    return dense(keys.ids * (count // keys.count) + numbers, count)


def _by_ranks(keys: Groups, starts: Ints, ends: Ints, *, touching: bool) -> Sessions:
    """Return the sessions by the ranks of times, where times are so far apart that keys do not fit on one axis."""
    times, ranks = np.unique(np.concatenate([starts, ends]), return_inverse=True)
    made = sessions(keys, ranks[: len(starts)], ranks[len(starts) :], touching=touching)
    return Sessions(made.groups, times[made.starts], times[made.ends])
