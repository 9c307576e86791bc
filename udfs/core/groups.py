"""Numbers for groups of equal rows: what every accumulator works on.

Arrow numbers the values of each column (``dictionary_encode``, a hash table in C++), numpy joins the numbers of
several columns into one. 262,144 rows of an integer key and a time fall into 10,000 groups in 4 ms this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext.udfs.core.equality import _groupable

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
# Joined numbers below this many times the rows are looked up in a table and not hashed.
_SPARSE = 4
_SMALL_TABLE = 1 << 16
_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each row.

    Attributes:
        ids: a number from 0 to ``count - 1``; every number has a row, unless one made the groups by hand.
        count: how many groups there are.
    """

    ids: Ints
    count: int

    def first(self) -> Ints:
        """Return the place of the first row of each group (-1 for a group without rows)."""
        first = np.full(self.count, -1, np.int64)
        # Of several values for one place the last one stays.
        first[self.ids[::-1]] = np.arange(len(self.ids) - 1, -1, -1)
        return first

    def sizes(self) -> Ints:
        """Return how many rows each group has."""
        return np.bincount(self.ids, minlength=self.count)

    def order(self) -> Ints:
        """Return the places of the rows, group by group, in each group in their order."""
        return stable_order(self.ids, self.count)

    def filter(self, keep: Bools) -> Groups:
        """Return the groups of some of the rows; there may be groups without rows after that."""
        return Groups(self.ids[keep], self.count)


def numbered(columns: Sequence[pa.Array], numbers: Sequence[Ints] = (), rows: int | None = None) -> Groups:
    """Return the groups of rows that are equal in all columns.

    Args:
        columns: of any type that can be compared (equality.py), normalised; NULL equals NULL.
        numbers: more columns, without NULLs.
        rows: how many there are, where there may be no column.
    """
    parts = [codes(column) for column in columns] + [_ranged(n) for n in numbers]
    if not parts:
        assert rows is not None
        return Groups(np.zeros(rows, np.int64), min(rows, 1))
    (ids, count), *others = parts
    for more, size in others:
        if count * size >= _LARGEST:
            ids, count = _hashed(ids)
        ids, count = ids * size + more, count * size
    return dense(ids, count) if len(parts) > 1 or numbers else Groups(ids, count)


def codes(column: pa.Array) -> tuple[Ints, int]:
    """Return a number for each value, the same for equal ones, and how many numbers there are."""
    if pa.types.is_nested(column.type):
        column = _groupable(column)
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def dense(ids: Ints, count: int) -> Groups:
    """Return groups by numbers below ``count``, of which some may not be used."""
    if count > max(_SPARSE * len(ids), _SMALL_TABLE):
        return Groups(*_hashed(ids))
    used = np.zeros(count, np.bool_)
    used[ids] = True
    places = np.cumsum(used, dtype=np.int64)
    number = int(places[-1]) if count else 0
    return Groups(ids if number == count else places[ids] - 1, number)


def stable_order(ids: Ints, count: int) -> Ints:
    """Return what ``argsort(ids, kind="stable")`` does for numbers below ``count``, in a quarter of the time."""
    rows = len(ids)
    bits = rows.bit_length()
    if count << bits >= _LARGEST:
        return np.argsort(ids, kind="stable").astype(np.int64)
    both = np.sort((ids << bits) + np.arange(rows))
    return both & ((1 << bits) - 1)


def _ranged(numbers: Ints) -> tuple[Ints, int]:
    if not len(numbers):
        return numbers, 0
    least, largest = int(numbers.min()), int(numbers.max())
    if largest - least >= _LARGEST:
        return _hashed(numbers)
    return numbers - least, largest - least + 1


def _hashed(ids: Ints) -> tuple[Ints, int]:
    return codes(pa.array(ids))
