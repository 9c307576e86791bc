"""Make the rows that come out of a join: pairs, and rows of one side with NULL for the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.joins.rows import JoinRows
from sqlext_udfs.joins.specification import LEFT_SIDE, RIGHT_SIDE, JoinKind, JoinSpecification
from sqlext_udfs.kernel.arrow_numpy import table_of, taken, whole
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.groups import Bools, Ints, numbered
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE


class Given(NamedTuple):
    """Rows that come out, as places.

    Attributes:
        left, right: of the rows of both sides; -1 for NULL.
        weight: how many more of each there are than before.
    """

    left: Ints
    right: Ints
    weight: Ints


def joined(parts: Sequence[Given]) -> Given:
    """Return what comes out by several parts."""
    if not parts:
        return Given(*(np.zeros(0, np.int64) for _ in range(3)))
    return Given(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def alone(side: int, weight: Ints) -> Given:
    """Return rows of one side alone, by the weight of each of its rows; those of weight 0 do not come out."""
    places = np.flatnonzero(weight)
    other = np.full(len(places), -1, np.int64)
    return Given(*((places, other) if side == LEFT_SIDE else (other, places)), weight[places])


def shown(join: JoinKind, side: int, count: Ints, matches: Ints) -> Ints:
    """Return how often each row of a side is in the result by itself, not in a pair.

    Args:
        join: the kind of the join.
        side: 0 or 1.
        count: how many of it there are.
        matches: how many rows of the other side it matches.
    """
    if join is JoinKind.SEMI and side == LEFT_SIDE:
        return np.where(matches > 0, count, 0)
    return unmatched(join, side, count, matches)


def unmatched(join: JoinKind, side: int, count: Ints, matches: Ints) -> Ints:
    """Return how many of each row of a side come out because they match nothing."""
    pads = join.pads_left if side == LEFT_SIDE else join.pads_right
    return np.where(matches == 0, count, 0) if pads else np.zeros_like(count)


class Replaced(NamedTuple):
    """Left rows that meet another right row than before, as places.

    Attributes:
        left: of left rows.
        before, after: of the right row that each has met and meets now; -1 for NULL.
    """

    left: Ints
    before: Ints
    after: Ints


class JoinOutput:
    """Makes output tables.

    Args:
        specification: of the join.
        types: of the columns that go in.
    """

    def __init__(self, specification: JoinSpecification, types: Sequence[pa.DataType]) -> None:
        self._types = join_output_types(specification, types)
        self._left = _places(specification.left, specification.kept(LEFT_SIDE))
        self._right = _places(specification.right, specification.kept(RIGHT_SIDE))
        self._can_group = all(can_group(t) for t in self._types)

    def none(self) -> pa.Table:
        """Return a table without rows."""
        return table_of([pa.nulls(0, t) for t in self._types])

    def table(self, left: JoinRows, right: JoinRows, given: Given) -> pa.Table:
        """Return the net of what comes out: what is taken back first."""
        columns = [taken(left.columns[i], given.left) for i in self._left]
        columns += [taken(right.columns[i], given.right) for i in self._right]
        places, kinds = _repeated(self._net(columns, given.weight))
        if len(places) != len(given.weight) or (np.diff(places) != 1).any():
            columns = [taken(c, places) for c in columns]
        return table_of([*columns, kinds])

    def replacing(self, left: JoinRows, right: JoinRows, replaced: Replaced, added: Given) -> pa.Table:
        """Return what is taken back, what takes its place in the same order, and rows that are new (each once)."""
        keep = np.flatnonzero(self._differ(right, replaced))
        old, before, after = replaced.left[keep], replaced.before[keep], replaced.after[keep]
        left_places = np.concatenate([old, old, added.left])
        right_places = np.concatenate([before, after, added.right])
        columns = [taken(left.columns[i], left_places) for i in self._left]
        columns += [taken(right.columns[i], right_places) for i in self._right]
        kinds = np.repeat(
            np.array([UPDATE_BEFORE, UPDATE_AFTER, INSERT], np.int8), [len(old), len(old), len(added.left)]
        )
        return table_of([*columns, pa.array(kinds)])

    def _differ(self, right: JoinRows, replaced: Replaced) -> Bools:
        """Return which rows look otherwise than before: a right row of the same values changes nothing."""
        rows = len(replaced.left)
        if not all(can_group(right.columns[i].type) for i in self._right):
            return np.ones(rows, np.bool_)
        both = np.concatenate([replaced.before, replaced.after])
        columns = [taken(right.columns[i], both) for i in self._right]
        if not columns or not rows:
            return np.zeros(rows, np.bool_)
        ids = numbered([whole(c) for c in normalised(table_of(columns)).columns], (), len(both)).ids
        differ: Bools = ids[:rows] != ids[rows:]
        return differ

    def _net(self, columns: Sequence[pa.Array], weight: Ints) -> Ints:
        """Return weights of which those of equal rows are summed at the first of them."""
        # Where all weights have one sign nothing cancels out.
        if not self._can_group or not ((weight < 0).any() and (weight > 0).any()):
            return weight
        rows = normalised(table_of(columns))
        groups = numbered([whole(c) for c in rows.columns], (), len(weight))
        # Sums of few small numbers: exact as floats.
        total = np.bincount(groups.ids, weight, groups.count).astype(np.int64)
        net = np.zeros_like(weight)
        net[groups.first()] = total
        return net


def can_group(of: pa.DataType) -> bool:
    """Return whether values of a type can be told apart: not those that contain maps, as in Spark."""
    return not pa.types.is_map(of) and all(can_group(of.field(i).type) for i in range(of.num_fields))


def _places(positions: Sequence[int], kept: Sequence[int]) -> list[int]:
    return [kept.index(p) for p in positions]


def _repeated(weight: Ints) -> tuple[Ints, pa.Array]:
    """Return the places of rows as often as they come out, and the kind of each."""
    if (weight == 1).all():
        return np.arange(len(weight)), pa.array(np.full(len(weight), INSERT, np.int8))
    back, more = (np.flatnonzero(which) for which in (weight < 0, weight > 0))
    # What is taken back comes first, so that a sink by key never drops the row that has just come.
    places = np.concatenate([np.repeat(back, -weight[back]), np.repeat(more, weight[more])])
    kinds = np.full(len(places), INSERT, np.int8)
    kinds[: int(-weight[back].sum())] = DELETE
    return places, pa.array(kinds)


def join_output_types(specification: JoinSpecification, types: Sequence[pa.DataType]) -> list[pa.DataType]:
    """Return the type of each column that comes out, in order: left, right, ``row_kind``. They are called ``c0``, ...

    Args:
        specification: what is computed.
        types: of the columns that go in.
    """
    return [*(types[p] for p in (*specification.left, *specification.right)), pa.int8()]
