"""Find the entries of some keys in a large encoded state, without a look at the others.

A level is a state with an index: the hashes of its keys, sorted, each with the place of its row. Levels lie over each
other, and a key's entries are those of the newest level that owns its hash. Hashes have 40 bits. Two keys with one hash
always stay together, so an answer never depends on a hash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Generic

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import whole
from sqlext_udfs.kernel.dividing import Wanted
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.hashing import can_hash, xxhash64
from sqlext_udfs.kernel.operator import BucketOperator, State

#: Hashes of keys, sorted, each once.
Hashes = npt.NDArray[np.uint64]
# The entries of an index: a hash, and in the low bits the place of its row.
_PLACE = np.uint64(24)
_PLACES = np.uint64((1 << 24) - 1)
#: The most rows that a table of a level can have.
MOST_ROWS = 1 << 24

NO_HASHES: Hashes = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class Level:
    """The entries of some keys.

    Attributes:
        data: the state, as the operator encodes it.
        indexes: of each table that ``of_keys`` divides, in that order.
        gone: hashes that the level owns although it has no entries of them: older levels do, which count no more.
    """

    data: bytes
    indexes: tuple[Hashes, ...]
    gone: Hashes = field(default_factory=NO_HASHES.copy)

    def owns(self, hashes: Hashes) -> Bools:
        """Return which hashes the level owns; they are ascending, and may repeat."""
        owned = np.zeros(len(hashes), np.bool_)
        for index in self.indexes:
            owned |= _found(index, hashes << _PLACE, hashes, _PLACE)
        return owned | _found(self.gone, hashes, hashes, np.uint64(0))

    def hashes(self) -> Hashes:
        """Return all hashes that the level owns."""
        return united(*(index >> _PLACE for index in self.indexes), self.gone)

    @property
    def size(self) -> int:
        """How many bytes are kept of it; an index is made anew."""
        return len(self.data) + self.gone.nbytes

    @property
    def rows(self) -> int:
        """How many rows the largest table has."""
        return max(map(len, self.indexes), default=0)


class LevelWork(Generic[State]):
    """Divide the levels of one operator's state, and put them together.

    Args:
        operator: whose state it is; it is ``separable``.
        keys: how many columns choose the bucket.
    """

    def __init__(self, operator: BucketOperator[State], keys: int) -> None:
        self.operator = operator
        self._keys = keys

    def hashes(self, rows: pa.Table) -> Hashes:
        """Return the hashes of the keys of rows as ``gathered`` gives them."""
        columns = [whole(rows.column(place)) for place in range(self._keys)]
        return united(self._hashed(columns, rows.num_rows))

    def can_hash(self, rows: pa.Table) -> bool:
        """Return whether there are keys, and all of types that can be hashed."""
        return self._keys > 0 and all(can_hash(rows.schema.field(place).type) for place in range(self._keys))

    def level(self, state: State, data: bytes, gone: Hashes = NO_HASHES) -> Level:
        """Return a state as a level.

        Args:
            state: the entries.
            data: the same, encoded.
            gone: hashes that it may own besides; those that have entries are left out.
        """
        made = Level(data, self._indexes(state))
        return Level(data, made.indexes, gone[~made.owns(gone)]) if len(gone) else made

    def of(self, level: Level, hashes: Hashes) -> State:
        """Return the entries of some hashes."""
        return self._picked(level, lambda index: _of(index, hashes))

    def but(self, level: Level, newer: Sequence[Level]) -> State:
        """Return the entries that no newer level owns."""
        return self._picked(level, lambda index: _but(index, newer))

    def without(self, level: Level, hashes: Hashes) -> State:
        """Return the entries of all other hashes."""
        return self.but(level, [Level(b"", (), hashes)])

    def parts(self, state: State, hashes: Hashes) -> tuple[State, State]:
        """Return the entries of some hashes, and all others."""
        indexes = self._indexes(state)
        others = [Level(b"", (), hashes)]
        mine = self.operator.of_keys(state, _picking(indexes, lambda index: _of(index, hashes)))
        return mine, self.operator.of_keys(state, _picking(indexes, lambda index: _but(index, others)))

    def together(self, oldest_first: Sequence[State]) -> State:
        """Return states of different keys as one."""
        return oldest_first[0] if len(oldest_first) == 1 else self.operator.together(oldest_first)

    def _picked(self, level: Level, places: Callable[[Hashes], Ints]) -> State:
        return self.operator.of_encoded(level.data, _picking(level.indexes, places))

    def _indexes(self, state: State) -> tuple[Hashes, ...]:
        found: list[Hashes] = []

        def noted(columns: Sequence[pa.Array], rows: int) -> Ints:
            hashes = self._hashed(columns[: self._keys], rows)
            # Sorting numbers that have their place in them is much faster than sorting places.
            found.append(np.sort(hashes << _PLACE | np.arange(rows, dtype=np.uint64)))
            return np.zeros(0, np.int64)

        self.operator.of_keys(state, noted)
        return tuple(found)

    def _hashed(self, columns: Sequence[pa.Array], rows: int) -> Hashes:
        hashes: Hashes = xxhash64(columns, rows) >> _PLACE
        return hashes


def _picking(indexes: Sequence[Hashes], places: Callable[[Hashes], Ints]) -> Wanted:
    # Each table is asked for in the order in which the indexes were made.
    left = iter(indexes)
    return lambda columns, rows: places(next(left))


def united(*hashes: Hashes) -> Hashes:
    """Return all hashes, ascending, each once."""
    # Sorting takes a third of the time of ``numpy.unique``, which keeps a hash table.
    every = np.sort(np.concatenate(hashes))
    first = np.ones(len(every), np.bool_)
    np.not_equal(every[1:], every[:-1], out=first[1:])
    found: Hashes = every[first]
    return found


def owned(levels: Sequence[Level], hashes: Hashes) -> Bools:
    """Return which hashes, ascending, one of the levels owns."""
    return reduce(np.logical_or, (level.owns(hashes) for level in levels), np.zeros(len(hashes), np.bool_))


def _found(sorted_: Hashes, least: Hashes, hashes: Hashes, shift: np.uint64) -> Bools:
    """Return which hashes are among sorted entries; ``least`` is the least entry that each can have."""
    if not len(sorted_):
        return np.zeros(len(hashes), np.bool_)
    places = np.minimum(np.searchsorted(sorted_, least), len(sorted_) - 1)
    found: Bools = sorted_[places] >> shift == hashes
    return found


def _of(index: Hashes, hashes: Hashes) -> Ints:
    first = np.searchsorted(index, hashes << _PLACE)
    counts = np.searchsorted(index, hashes << _PLACE | _PLACES, side="right") - first
    # The entries of all hashes, one behind the other: each range begins where the counts before it end.
    begins = np.repeat(first - (np.cumsum(counts) - counts), counts)
    return _rows(index[begins + np.arange(len(begins))])


def _but(index: Hashes, newer: Sequence[Level]) -> Ints:
    return _rows(index[~owned(newer, index >> _PLACE)])


def _rows(entries: Hashes) -> Ints:
    return np.sort((entries & _PLACES).astype(np.int64))
