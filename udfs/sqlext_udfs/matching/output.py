"""Make the rows that come out of matches: measures and totals, taken from whole columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.aggregation import Aggregation
from sqlext_udfs.expressions.trees import Cell, Classifier, Measure
from sqlext_udfs.kernel.arrow_numpy import taken
from sqlext_udfs.kernel.groups import Groups, Ints
from sqlext_udfs.kernel.row_kinds import INSERT
from sqlext_udfs.matching.links import Link, PartitionRows
from sqlext_udfs.matching.run import CompleteMatch
from sqlext_udfs.matching.specification import MatchSpecification


class MatchRow(NamedTuple):
    """A row that comes out of a match.

    Attributes:
        link: up to which link RUNNING measures look; None for a match of no row.
        last: the match's last link, up to which FINAL measures look.
        start: the place of the match's first row.
        number: which match of its partition it is, from 1.
        low, high: where its partition lies: the first place, and the place behind the last.
    """

    link: Link | None
    last: Link | None
    start: int
    number: int
    low: int
    high: int

    def reached(self, *, final: bool) -> Link | None:
        """Return up to which link is looked."""
        return self.last if final else self.link


class MatchOutput:
    """Make tables of matches: keys, measures, totals, row kind.

    Attributes:
        types: of these columns.

    Args:
        specification: what is asked of a match.
        types: of the operator's input.
    """

    def __init__(self, specification: MatchSpecification, types: Sequence[pa.DataType]) -> None:
        self._specification = specification
        self._input_types = types
        values = [types[place] for place in specification.values]
        self._totals = [
            (t, Aggregation([AggregateCall(t.function, t.inputs, t.distinct, t.parameters)], values))
            for t in specification.totals
        ]
        given = [_type(m, values) for m in specification.measures]
        totals = [t for _, kept in self._totals for t in kept.output_types]
        self.types = [*types[: specification.keys], *given, *totals, pa.int8()]

    def none(self) -> pa.Table:
        """Return no rows."""
        return self.table([], [pa.nulls(0, t) for t in self._input_types])

    def shown(self, match: CompleteMatch, number: int, rows: PartitionRows) -> list[MatchRow]:
        """Return the rows that a match gives.

        Args:
            match: the match.
            number: which of its partition it is, from 1.
            rows: its partition.
        """
        if match.link is None:
            return [MatchRow(None, None, match.start, number, rows.low, rows.high)] if self._specification.empty else []
        everything = len(self._specification.variables)
        links = match.link.of(everything) if self._specification.all_rows else [match.link]
        return [MatchRow(link, match.link, match.start, number, rows.low, rows.high) for link in links]

    def table(self, shown: Sequence[MatchRow], columns: Sequence[pa.Array]) -> pa.Table:
        """Return the table of the rows that come out, in this order.

        Args:
            shown: what they are.
            columns: of the rows in whose places links count.
        """
        specification = self._specification
        # Keys are those of the match's first row: all rows of a partition have the same ones.
        starts = _places([s.start for s in shown])
        values = [columns[place] for place in specification.values]
        made = [taken(columns[i], starts) for i in range(specification.keys)]
        made += [self._measure(m, shown, values) for m in specification.measures]
        for total, kept in self._totals:
            rows, owners = _rows_of(total.group, shown, final=total.final)
            table = pa.table([taken(v, rows) for v in values], [str(i) for i in range(len(values))])
            made += kept.finish(kept.start(table, Groups(owners, len(shown)), np.arange(len(rows))))
        made.append(pa.array(np.full(len(shown), INSERT, np.int8)))
        names = [f"c{i}" for i in range(len(made))]
        return pa.table([c.cast(t) for c, t in zip(made, self.types, strict=True)], names)

    def _measure(self, measure: Measure, shown: Sequence[MatchRow], values: Sequence[pa.Array]) -> pa.Array:
        if isinstance(measure, Cell):
            return taken(values[measure.value], _places([_row(measure, s) for s in shown]))
        if isinstance(measure, Classifier):
            return pa.array([self._name(measure, s) for s in shown], pa.string())
        return pa.array([s.number for s in shown], pa.int64())

    def _name(self, measure: Classifier, shown: MatchRow) -> str | None:
        link = shown.reached(final=measure.final)
        found = link.last[measure.group] if link is not None else None
        return self._specification.variables[found.variable] if found is not None else None


def _type(measure: Measure, values: Sequence[pa.DataType]) -> pa.DataType:
    if isinstance(measure, Cell):
        return values[measure.value]
    return pa.string() if isinstance(measure, Classifier) else pa.int64()


def _rows_of(group: int, shown: Sequence[MatchRow], *, final: bool) -> tuple[Ints, Ints]:
    """Return the rows that an aggregate takes, and for which of the rows that come out."""
    rows: list[int] = []
    owners: list[int] = []
    for owner, each in enumerate(shown):
        link = each.reached(final=final)
        found = link.of(group) if link is not None else []
        rows += [f.row for f in found]
        owners += [owner] * len(found)
    return _places(rows), _places(owners)


def _row(cell: Cell, shown: MatchRow) -> int:
    """Return the place of the row whose value is wanted, -1 if there is none."""
    link = shown.reached(final=cell.final)
    found = link.find(cell.group, first=cell.first, offset=cell.offset) if link is not None else None
    row = found.row + cell.shift if found is not None else -1
    return row if shown.low <= row < shown.high else -1


def _places(rows: Sequence[int]) -> Ints:
    return np.asarray(rows, np.int64)
