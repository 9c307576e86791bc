"""Number the keys of a bucket.

A key keeps its number from its first row until nothing is known of it any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Ints, numbered


@dataclass(frozen=True)
class KeyNumbers:
    """The keys of a bucket.

    Attributes:
        columns: their values.
        numbers: their numbers, ascending.
        next: the number of the next new key.
    """

    columns: tuple[pa.Array, ...]
    numbers: Ints
    next: int = 0

    @classmethod
    def none(cls, types: Sequence[pa.DataType]) -> KeyNumbers:
        """Return no keys."""
        return cls(tuple(pa.nulls(0, t) for t in types), np.zeros(0, np.int64))

    def of(self, keys: Sequence[pa.Array], rows: int) -> tuple[Ints, KeyNumbers]:
        """Return the number of each row's key, and the keys with those that were not known.

        Args:
            keys: the rows' key columns, normalised.
            rows: how many rows there are.
        """
        known = len(self.numbers)
        both = [pa.concat_arrays([a, b]) for a, b in zip(self.columns, keys, strict=True)]
        groups = numbered(both, (), known + rows)
        number = np.full(groups.count, -1, np.int64)
        number[groups.ids[:known]] = self.numbers
        first = groups.first()
        new = np.flatnonzero(number < 0)
        if not len(new):
            return number[groups.ids[known:]], self
        # In the order of first rows: numbers do not depend on how ``numbered`` works.
        new = new[np.argsort(first[new])]
        number[new] = self.next + np.arange(len(new))
        columns = tuple(pa.concat_arrays([a, taken(b, first[new])]) for a, b in zip(self.columns, both, strict=True))
        after = KeyNumbers(columns, np.concatenate([self.numbers, number[new]]), self.next + len(new))
        return number[groups.ids[known:]], after

    def values(self, numbers: Ints) -> list[pa.Array]:
        """Return the key columns of some numbers."""
        # ``numbers`` ascends: new keys get larger ones, and go behind.
        places = np.searchsorted(self.numbers, numbers)
        return [taken(c, places) for c in self.columns]

    def only(self, numbers: Ints) -> KeyNumbers:
        """Return the keys of which something is known."""
        used = np.isin(self.numbers, numbers)
        if used.all():
            return self
        places = np.flatnonzero(used)
        # ``next`` goes on: a number is never given to another key.
        return KeyNumbers(tuple(taken(c, places) for c in self.columns), self.numbers[places], self.next)
