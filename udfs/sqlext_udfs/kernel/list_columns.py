"""Build, join and split columns of lists by group, on flat columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Groups, Ints, stable_order


def lists_of(values: pa.Array, groups: Groups) -> pa.Array:
    """Return the values of each group as a list, in their order; an empty one for a group without values."""
    # Rows that lie group by group already need no copy.
    if (np.diff(groups.ids) >= 0).all():
        return _lists(groups.sizes(), values)
    return _lists(groups.sizes(), taken(values, groups.order()))


def elements(lists: pa.Array) -> tuple[pa.Array, Groups]:
    """Return the elements of all lists, and as their group which list each is of; a NULL is an empty list."""
    sizes = lengths(lists)
    return lists.flatten(), Groups(np.repeat(np.arange(len(lists)), sizes), len(lists))


def lengths(lists: pa.Array) -> Ints:
    """Return how long each list is; a NULL is an empty list."""
    return np.asarray(pc.fill_null(pc.list_value_length(lists), 0).to_numpy(), np.int64)


def joined_lists(lists: pa.Array, groups: Groups) -> pa.Array:
    """Return the lists of each group one after the other."""
    values, owners = elements(lists)
    return lists_of(values, Groups(groups.ids[owners.ids], groups.count))


def ordered_within(groups: Groups, keys: Ints) -> Ints:
    """Return places in the order of groups, and within a group by numbers of their own."""
    if not len(keys):
        return keys
    by_key = stable_order(keys)
    # Two stable sorts, the outer key last: one sort of both together could leave 64 bits.
    return by_key[stable_order(groups.ids[by_key])]


def _lists(sizes: Ints, values: pa.Array) -> pa.Array:
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)
