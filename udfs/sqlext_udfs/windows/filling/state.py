"""Keep what a bucket of filled windows knows: the state of the windows, and the keys that are filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.arrow_numpy import integers, taken, whole
from sqlext_udfs.kernel.groups import Bools, Ints

# Columns of ``FillState.keys`` behind the keys.
_LAST, _DONE = "last", "done"


class Entries(NamedTuple):
    """Windows with rows: the last one of each key that is kept, and those that have just come.

    Attributes:
        keys: their keys.
        numbers: those of the windows.
        done: up to which window the key is filled.
        results: those of the aggregates.
    """

    keys: list[pa.Array]
    numbers: Ints
    done: Ints
    results: list[pa.Array]

    def at(self, places: Ints) -> Entries:
        """Return some of them."""
        keys, results = ([taken(c, places) for c in columns] for columns in (self.keys, self.results))
        return Entries(keys, self.numbers[places], self.done[places], results)

    def behind(self, before: Entries) -> Entries:
        """Return them behind others."""
        if not len(before.numbers):
            return self
        pairs = ((before.keys, self.keys), (before.results, self.results))
        keys, results = ([pa.concat_arrays(c) for c in zip(*p, strict=True)] for p in pairs)
        numbers, done = ((before.numbers, self.numbers), (before.done, self.done))
        return Entries(keys, np.concatenate(numbers), np.concatenate(done), results)


@dataclass(frozen=True, slots=True)
class FillState:
    """The state of a bucket.

    Attributes:
        windows: that of the operator of windows.
        keys: a row for each key: the key, the number of its last window with rows, up to which one it is filled, and
            the results of that window, where they are carried.
        wakeup: the least number of a window that may come out next; None without keys, or without rows.
        latest: where the keys of a table are filled, the greatest number of a window with rows of any key.
    """

    windows: Any
    keys: pa.Table
    wakeup: int | None = None
    latest: int | None = None


def table_of_entries(entries: Entries, names: Sequence[str]) -> pa.Table:
    """Return a table of the keys; ``names`` are those of the results."""
    columns = [*entries.keys, pa.array(entries.numbers), pa.array(entries.done), *entries.results]
    return pa.table(columns, [*(f"k{i}" for i in range(len(entries.keys))), _LAST, _DONE, *names])


def entries_of(table: pa.Table, keys: int, names: Sequence[str], types: Sequence[pa.DataType]) -> Entries:
    """Return the keys of a table; NULL for a result that it does not have.

    Args:
        table: as ``table_of_entries`` gives it.
        keys: how many of the first columns are the key.
        names, types: of the results.
    """
    have = set(table.column_names)
    results = [
        whole(table.column(n)) if n in have else pa.nulls(table.num_rows, t) for n, t in zip(names, types, strict=True)
    ]
    numbers, done = (integers(table.column(c)) for c in (_LAST, _DONE))
    return Entries([whole(c) for c in table.columns[:keys]], numbers, done, results)


def last_of(ids: Ints) -> Bools:
    """Return which entries are the last of their key; those of a key stand together."""
    last = np.ones(len(ids), np.bool_)
    last[:-1] = ids[1:] != ids[:-1]
    return last
