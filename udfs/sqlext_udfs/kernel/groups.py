"""Number groups of equal rows: what every accumulator works on.

Arrow numbers the values of each column (``dictionary_encode``, a hash table in C++). Numpy joins the numbers of
several columns into one. This groups 262,144 rows of an integer key and a time into 10,000 groups in 4 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlext_udfs.kernel.equality import groupable

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)
# Numbers below this many times the rows are looked up in a table, and not hashed or sorted.
_SPARSE = 4
# A table of so many entries is always cheap.
_SMALL_TABLE = 1 << 16
# A table of so many entries stays cheap together with those of other columns.
_TINY_TABLE = 1 << 6
# So many rows for each number make numbers without rows cheap: what is done for each group is little then.
_ROWS_OF_A_NUMBER = 8
# So many rows for each group are looked at first for one of each, and so many at least.
_MANY_ROWS, _SMALL_PART = 8, 1 << 12
# How many values are looked at to guess whether most are different.
_SAMPLE = 1 << 10
# So many equal values one after the other, on average, are runs.
_RUN = 32
# Numbers with a place in their low bits must stay below it, to fit 64 bits.
_LARGEST = 1 << 62


@dataclass(frozen=True)
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
        return self._first

    def sizes(self) -> Ints:
        """Return how many rows each group has."""
        return self._sizes

    def have_sizes(self) -> bool:
        """Return whether sizes are known already, so that nobody looks at rows for them."""
        return "_sizes" in self.__dict__

    def learn_sizes(self, sizes: Ints) -> None:
        """Keep sizes that were found beside something else."""
        self.__dict__["_sizes"] = _lasting(sizes)

    def used(self) -> Bools:
        """Return which groups have rows."""
        return self._used

    @cached_property
    def _first(self) -> Ints:
        first = np.full(self.count, -1, np.int64)
        empty = self.count - np.count_nonzero(self._sizes) if self.have_sizes() else 0
        for start, end in _parts(len(self.ids), self.count):
            places = np.full(self.count, -1, np.int64) if start else first
            # Of several values for one place the last one stays.
            places[self.ids[start:end][::-1]] = np.arange(end - 1, start - 1, -1)
            first = np.where(first < 0, places, first) if start else places
            if np.count_nonzero(first < 0) == empty:
                break
        return _lasting(first)

    @cached_property
    def _sizes(self) -> Ints:
        return _lasting(np.bincount(self.ids, minlength=self.count))

    @cached_property
    def _used(self) -> Bools:
        if self.have_sizes():
            return _lasting(self._sizes > 0)
        used = np.zeros(self.count, np.bool_)
        for start, end in _parts(len(self.ids), self.count):
            used[self.ids[start:end]] = True
            if used.all():
                break
        return _lasting(used)

    def order(self) -> Ints:
        """Return the places of the rows, group by group, in each group in their order."""
        return stable_order(self.ids)

    def filter(self, keep: Bools) -> Groups:
        """Return the groups of some of the rows; there may be groups without rows after that."""
        return Groups(self.ids[keep], self.count)


def _lasting(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return an array that several are given, so that nobody may change it."""
    values.flags.writeable = False
    return values


def _parts(rows: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield where the first rows begin and end, and where the others do.

    Few groups have all been seen after few rows, and nobody needs to look at the others.
    """
    few = min(rows, max(_MANY_ROWS * count, _SMALL_PART))
    yield 0, few
    if few < rows:
        yield few, rows


def numbered(
    columns: Sequence[pa.Array], numbers: Sequence[Ints] = (), rows: int | None = None, *, gaps: bool = False
) -> Groups:
    """Return the groups of rows that are equal in all columns.

    Args:
        columns: of any type that can be compared (``kernel.equality``), normalised; NULL equals NULL.
        numbers: more columns, without NULLs.
        rows: how many there are, where there may be no column.
        gaps: whether some numbers may have no rows, where nothing need be done to each row then.
    """
    # The gaps of several columns would multiply.
    few = gaps and len(columns) + len(numbers) == 1
    parts = [codes(column, gaps=few) for column in columns] + [integer_codes(n, gaps=few) for n in numbers]
    if not parts:
        assert rows is not None
        return Groups(np.zeros(rows, np.int64), min(rows, 1))
    (ids, count), *others = parts
    for more, size in others:
        if size <= 1:
            continue
        # Made dense first where needed: neither the product nor a table of its size may grow out of hand.
        if count * size > max(_SPARSE * len(ids), _SMALL_TABLE):
            fewer, others_ = dense(ids, count), dense(more, size)
            ids, count, more, size = fewer.ids, fewer.count, others_.ids, others_.count
        ids, count = ids * size + more, count * size
    if gaps and _are_cheap(count, len(ids)):
        return Groups(ids, count)
    return dense(ids, count)


def codes(column: pa.Array, *, gaps: bool = False) -> tuple[Ints, int]:
    """Return a number for each value, the same for equal ones, and the limit below which all numbers are.

    Args:
        column: the values.
        gaps: whether there may be some numbers without values.
    """
    if pa.types.is_nested(column.type):
        column = groupable(column)
    elif not column.null_count and _are_integers(column.type):
        return integer_codes(np.asarray(column.view(pa.int64()).to_numpy()), gaps=gaps)
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def integer_codes(values: Ints, *, gaps: bool = False) -> tuple[Ints, int]:
    """Return the same for integers: by their distance from the least, by sorting, or by a hash table."""
    if not len(values):
        return values, 0
    least, largest = int(values.min()), int(values.max())
    span = largest - least + 1
    if span > _TINY_TABLE and _repeat(values):
        return _codes_of_runs(values)
    # Numbers that begin near 0 are codes themselves: there are gaps below the least, and nothing is copied.
    if gaps and least >= 0 and _are_cheap(largest + 1, len(values)):
        return values, largest + 1
    if span <= max(_SPARSE * len(values), _SMALL_TABLE):
        return values - least if least else values, span
    # Where most values are different a hash table would be large: sorting is faster.
    if span << len(values).bit_length() < _LARGEST and _are_different(values):
        return _sorted_codes(values - least)
    encoded = pa.array(values).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def _are_cheap(count: int, rows: int) -> bool:
    """Return whether numbers without rows cost little beside the rows."""
    return count * _ROWS_OF_A_NUMBER <= rows


def dense(ids: Ints, count: int) -> Groups:
    """Return groups by numbers below ``count``, of which some may not be used."""
    if count > max(_SPARSE * len(ids), _SMALL_TABLE):
        # A table of all possible numbers would be more work than the rows are: numbers in use come first.
        ids, count = integer_codes(ids)
    groups = Groups(ids, count)
    used = groups.used()
    number = int(np.count_nonzero(used))
    if number == count:
        return groups
    # The rank of each number among those in use.
    places = np.cumsum(used, dtype=np.int64)
    return Groups(places[ids] - 1, number)


def stable_order(values: Ints) -> Ints:
    """Return what ``argsort(values, kind="stable")`` does.

    Sorting values that have their place in their low bits takes a third of the time, where both fit 64 bits.
    """
    if not len(values):
        return np.zeros(0, np.int64)
    bits, least = len(values).bit_length(), int(values.min())
    # Python's integers: this shift itself cannot overflow.
    if (int(values.max()) - least) << bits >= _LARGEST:
        return np.argsort(values, kind="stable").astype(np.int64)
    both = np.sort(((values - least) << bits) + np.arange(len(values)))
    return both & ((1 << bits) - 1)


def _sorted_codes(values: Ints) -> tuple[Ints, int]:
    """Return codes of small positive integers by sorting them together with their places, which numpy does fast."""
    bits = len(values).bit_length()
    both = np.sort((values << bits) + np.arange(len(values)))
    of, places = both >> bits, both & ((1 << bits) - 1)
    new = np.zeros(len(values), np.int64)
    new[1:] = of[1:] != of[:-1]
    codes_ = np.empty(len(values), np.int64)
    codes_[places] = np.cumsum(new)
    return codes_, int(new.sum()) + 1


def _repeat(values: Ints) -> bool:
    """Return whether most values seem to equal the one before, as windows do of rows that come in their order."""
    places = np.arange(1, len(values), max(1, len(values) // _SAMPLE))
    return len(values) > _SAMPLE and int(np.count_nonzero(values[places] != values[places - 1])) * _RUN < len(places)


def _codes_of_runs(values: Ints) -> tuple[Ints, int]:
    """Return codes of integers of which equal ones stand together: those of each run's first one."""
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    starts = np.concatenate([np.zeros(1, np.int64), starts])
    different, of_runs = np.unique(values[starts], return_inverse=True)
    lengths = np.diff(starts, append=len(values))
    return np.repeat(of_runs.astype(np.int64), lengths), len(different)


def _are_integers(of: pa.DataType) -> bool:
    return bool(pa.types.is_int64(of) or pa.types.is_timestamp(of) or pa.types.is_duration(of))


def _are_different(values: Ints) -> bool:
    """Return whether most values seem to be different: then a hash table would be large and slow."""
    sample = values[:: max(1, len(values) // _SAMPLE)]
    return len(np.unique(sample)) * 2 > len(sample)
