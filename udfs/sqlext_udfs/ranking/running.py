"""Compute functions OVER rows in the order of a value: each row has the result of the rows up to it.

A row that comes, or is taken back, changes the results of those behind it: these are taken back and given anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.exact_sums import halves, joined, sum_does_not_fit
from sqlext_udfs.kernel.arrow_numpy import numbers, taken
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.order import ranks
from sqlext_udfs.ranking.operator import RankOperator
from sqlext_udfs.ranking.rows import InRange, RankRows, Sorted
from sqlext_udfs.ranking.specification import ALL, RankSpecification, SortKey

_EXACT = Context(prec=100)
_DIGITS = 38


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A function.

    Attributes:
        name: COUNT, SUM, MIN, MAX or LAG.
        place: position of the column that it looks at; None: of COUNT(*).
        rows: whether it ends with the row itself; else with the last of those that are equal in ORDER BY.
        offset: how many rows LAG goes back.
        default: position of what LAG gives where there is no such row; None: NULL.
    """

    name: str
    place: int | None = None
    rows: bool = False
    offset: int = 1
    default: int | None = None


class RunningRows(RankRows):
    """Rows with the results of functions, in place of rows in range.

    Args:
        specification: how rows are sorted.
        functions: what is computed.
        types: of the columns that go in.
        checked: whether a sum of integers that does not fit BIGINT is an error; else it wraps around.

    Raises:
        SqlExtError: RUN-035, from ``in_range``, for such a sum, and for one of decimals of more than 38 digits.
    """

    def __init__(
        self,
        specification: RankSpecification,
        functions: Sequence[RunningCall],
        types: Sequence[pa.DataType],
        *,
        checked: bool = False,
    ) -> None:
        places = [p for f in functions for p in (f.place, f.default) if p is not None]
        super().__init__(specification, types, places)
        self._functions = functions
        self._checked = checked
        made = [_result_type(f, types) for f in functions]
        self.output_types = (*self.output_types[:-2], *made, *self.output_types[-2:])

    def in_range(self, columns: Sequence[pa.Array], places: Ints) -> InRange:
        """Return all rows with their results.

        Args:
            columns: the kept columns of all rows.
            places: the rows, all those of their keys.
        """
        chosen = [taken(c, places) for c in columns]
        rows = self.sorted(chosen, self.keys(chosen, len(places)))
        chosen = [taken(c, rows.places) for c in chosen]
        results = [self._result(f, chosen, rows) for f in self._functions]
        keys = chosen[: self.spec.keys]
        out = [self.column(chosen, p) for p in self.spec.out]
        return InRange(keys, [*out, *results], np.zeros(len(places), np.int64))

    def _result(self, function: RunningCall, columns: Sequence[pa.Array], rows: Sorted) -> pa.Array:
        here = np.arange(len(rows.places))
        if function.name == "LAG":
            return self._lag(function, columns, here, rows.start)
        end = here if function.rows else rows.last
        if function.place is None:
            return pa.array(end - rows.start + 1)
        column = self.column(columns, function.place)
        present = np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
        count = _summed(present.astype(np.int64), rows.start)[end]
        if function.name == "COUNT":
            return pa.array(count)
        if function.name == "SUM":
            return _sum(column, rows.start, end, count > 0, checked=self._checked)
        return taken(column, _extreme(column, present, rows.start, largest=function.name == "MAX")[end])

    def _lag(self, function: RunningCall, columns: Sequence[pa.Array], here: Ints, start: Ints) -> pa.Array:
        column, back = self.column(columns, function.place), here - function.offset
        found = taken(column, np.where(back >= start, back, -1))
        if function.default is None:
            return found
        default = self.column(columns, function.default).cast(column.type)
        both = pa.concat_arrays([found, default])
        return taken(both, np.where(back >= start, here, here + len(here)))


def running_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> RankOperator:
    """Return the operator.

    Args:
        fields: ``keys``, ``out``, ``order``, ``kind`` and ``ttl`` of ``RankSpecification``, and ``functions``, the
            fields of each ``RunningCall``, and ``checked`` of ``RunningRows``.
        types: of the columns that go in.
    """
    own = dict(fields)
    functions = [RunningCall(*of) for of in own.pop("functions")]
    checked = own.pop("checked")
    order = tuple(SortKey(*item) for item in own.pop("order"))
    specification = RankSpecification(**own, order=order, last=ALL)
    return RankOperator(specification, types, RunningRows(specification, functions, types, checked=checked))


def _result_type(function: RunningCall, types: Sequence[pa.DataType]) -> pa.DataType:
    if function.name == "COUNT" or function.place is None:
        return pa.int64()
    of = types[function.place]
    if function.name != "SUM":
        return of
    if pa.types.is_decimal(of):
        return pa.decimal128(_DIGITS, of.scale)
    return pa.float64() if pa.types.is_floating(of) else pa.int64()


def _sum(column: pa.Array, start: Ints, end: Ints, present: Bools, *, checked: bool) -> pa.Array:
    """Return sums of the rows from the first of the key on; NULL where no value is among them."""
    if pa.types.is_decimal(column.type):
        values = np.array([v or Decimal(0) for v in column.to_pylist()], object)
        sums: list[Decimal] = []
        for value, first in zip(values, start == np.arange(len(start)), strict=True):
            sums.append(value if first else _EXACT.add(sums[-1], value))
        shown = [sums[e] if p else None for e, p in zip(end, present, strict=True)]
        if any(s is not None and len(s.as_tuple().digits) > _DIGITS for s in shown):
            raise sum_does_not_fit(f"DECIMAL({_DIGITS}, {column.type.scale})")
        return pa.array(shown, pa.decimal128(_DIGITS, column.type.scale))
    if pa.types.is_floating(column.type):
        made = _summed(numbers(column).astype(np.float64), start)[end]
    else:
        values = numbers(column).astype(np.int64)
        made = joined(*(_summed(half, start)[end] for half in halves(values)), checked=checked)
    return pa.array(made, mask=~present)


def _summed(values: Any, start: Ints) -> Any:
    """Return sums from the first row of each key on, added in order."""
    made = np.empty_like(values)
    for first, stop in _keys(start):
        np.cumsum(values[first:stop], out=made[first:stop])
    return made


def _extreme(column: pa.Array, present: Bools, start: Ints, *, largest: bool) -> Ints:
    """Return the place of the least or largest value up to each row, -1 without one."""
    by = ranks(column) if largest else -ranks(column)
    none = -len(by) - 2
    by = np.where(present, by, none)
    best = np.empty_like(by)
    for first, stop in _keys(start):
        np.maximum.accumulate(by[first:stop], out=best[first:stop])
    # Equal values are one another's equals, so the place of any of them will do.
    values, places = np.unique(by, return_index=True)
    return np.where(best == none, -1, places[np.searchsorted(values, best)])


def _keys(start: Ints) -> list[tuple[int, int]]:
    """Return where the rows of each key begin and end."""
    bounds = [*np.flatnonzero(start == np.arange(len(start))).tolist(), len(start)]
    return list(itertools.pairwise(bounds))
