"""Hold the rows of one side of a join by column: rows in state, or rows that just came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext_udfs.joins.specification import LEFT_SIDE, RIGHT_SIDE, JoinSpecification, VersionBound
from sqlext_udfs.kernel.arrow_numpy import integers, taken, whole
from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER, UPDATE_BEFORE


@dataclass(frozen=True, slots=True)
class JoinRows:
    """Rows of one side.

    Attributes:
        columns: those that are kept (``JoinSpecification.kept``): the keys first.
        count: how many equal rows each stands for; of rows that have just come, less than 0 for what is taken back.
        matches: how many rows of the other side each matches, where somebody asks for it.
        time: ms: of a regular join, when the row was written; of the others, when its state ends.
    """

    columns: tuple[pa.Array, ...]
    count: Ints
    matches: Ints
    time: Ints

    @classmethod
    def none(cls, types: Sequence[pa.DataType]) -> JoinRows:
        """Return no rows."""
        nothing = np.zeros(0, np.int64)
        return cls(tuple(pa.nulls(0, t) for t in types), nothing, nothing, nothing)

    def __len__(self) -> int:
        return len(self.count)

    def at(self, places: Ints) -> JoinRows:
        """Return the rows at some places."""
        columns = tuple(taken(c, places) for c in self.columns)
        return JoinRows(columns, self.count[places], self.matches[places], self.time[places])

    def filter(self, keep: Bools) -> JoinRows:
        """Return some of the rows; these themselves if it is all."""
        if keep.all():
            return self
        places = np.flatnonzero(keep)
        if not len(places) or places[-1] - places[0] >= len(places):
            return self.at(places)
        # They stand together, as rows of a side do: nothing is copied.
        some = slice(int(places[0]), int(places[-1]) + 1)
        columns = tuple(c[some] for c in self.columns)
        return JoinRows(columns, self.count[some], self.matches[some], self.time[some])

    def with_(self, others: JoinRows) -> JoinRows:
        """Return these rows and others."""
        if not len(others) or not len(self):
            return self if not len(others) else others
        columns = tuple(pa.concat_arrays([a, b]) for a, b in zip(self.columns, others.columns, strict=True))
        return JoinRows(
            columns,
            np.concatenate([self.count, others.count]),
            np.concatenate([self.matches, others.matches]),
            np.concatenate([self.time, others.time]),
        )

    def written(self, now: int) -> JoinRows:
        """Return the rows as written at a time (ms)."""
        return replace(self, time=np.full(len(self), now, np.int64))


class Sides(NamedTuple):
    """Rows of both sides."""

    left: JoinRows
    right: JoinRows

    def rows(self) -> int:
        """Return how many there are."""
        return len(self.left) + len(self.right)

    def with_(self, others: Sides) -> Sides:
        """Return these rows and others; these themselves if there are no others."""
        return Sides(self.left.with_(others.left), self.right.with_(others.right)) if others.rows() else self

    def filter(self, left: Bools, right: Bools) -> Sides:
        """Return some of the rows; these themselves if it is all."""
        return self if left.all() and right.all() else Sides(self.left.filter(left), self.right.filter(right))


def without_useless(specification: JoinSpecification, rows: pa.Table) -> pa.Table:
    """Return the rows that may come out.

    Rows with a NULL key are left out where their side comes out only in pairs. UPDATE_BEFORE rows of versions are left
    out too, as the UPDATE_AFTER replaces the version.
    """
    useful = np.ones(rows.num_rows, np.bool_)
    is_left = integers(rows.column(specification.side)) == LEFT_SIDE
    if not specification.null_safe:
        padded = np.where(is_left, specification.join.pads_left, specification.join.pads_right)
        useful &= padded | _complete(rows, specification.keys)
    if isinstance(specification.bound, VersionBound) and specification.kind is not None:
        useful &= is_left | (integers(rows.column(specification.kind)) != UPDATE_BEFORE)
    return rows if useful.all() else rows.filter(pa.array(useful))


def arrived(specification: JoinSpecification, rows: pa.Table) -> Sides:
    """Return the left and the right rows of a micro-batch."""
    side = integers(rows.column(specification.side))
    signs = np.ones(len(side), np.int64) if specification.kind is None else _signs(rows, specification.kind)
    no_time = np.zeros(len(side), np.int64)
    time = no_time if specification.time is None else integers(rows.column(specification.time))
    # Matches are counted when the rows meet the other side.
    matches = np.zeros(len(side), np.int64)

    def of(which: int) -> JoinRows:
        # Of the union's columns a side keeps its own: those of the other side are NULL in its rows.
        columns = tuple(whole(rows.column(p)) for p in specification.kept(which))
        return JoinRows(columns, signs, matches, time).filter(side == which)

    return Sides(of(LEFT_SIDE), of(RIGHT_SIDE))


def _complete(rows: pa.Table, keys: int) -> Bools:
    """Return which rows have no NULL key."""
    complete = np.ones(rows.num_rows, np.bool_)
    for position in range(keys):
        if rows.column(position).null_count:
            complete &= np.asarray(rows.column(position).is_valid())
    return complete


def _signs(rows: pa.Table, kind: int) -> Ints:
    adds = pc.is_in(rows.column(kind), pa.array([INSERT, UPDATE_AFTER], rows.schema.field(kind).type))
    return np.where(np.asarray(adds), 1, -1).astype(np.int64)
