"""Join two streams: regular, interval, window, temporal and as-of joins; inner, outer, semi and anti.

A micro-batch of a regular join gives the net change. A row that came out with NULL for the other side is taken back
(DELETE) when its first match comes, and comes again when its last match goes. UPDATE kinds do not come out: which
insert belongs to which delete depends on the key of the table that takes them. An as-of join gives UPDATE kinds, as
both rows are of one left row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa

from sqlext_udfs.joins.conditions import require_comparable
from sqlext_udfs.joins.interval import ArrivalLife, IntervalLife
from sqlext_udfs.joins.life import Life
from sqlext_udfs.joins.nearest import NearestLife
from sqlext_udfs.joins.nearest_updates import UpdatingNearestLife
from sqlext_udfs.joins.output import JoinOutput, can_group, join_output_types
from sqlext_udfs.joins.regular import RegularLife
from sqlext_udfs.joins.rows import JoinRows, Sides, arrived, without_useless
from sqlext_udfs.joins.specification import (
    LEFT_SIDE,
    RIGHT_SIDE,
    ArrivalBound,
    IntervalBound,
    JoinSpecification,
    NearestBound,
    Unbounded,
    VersionBound,
)
from sqlext_udfs.joins.state import decode_sides, encode_sides
from sqlext_udfs.joins.temporal import TemporalLife
from sqlext_udfs.joins.window import WindowLife
from sqlext_udfs.kernel.dividing import Wanted, places_of
from sqlext_udfs.kernel.equality import normalised
from sqlext_udfs.kernel.operator import BucketOperator, Clock, StepResult, Wakeup


class JoinOperator(BucketOperator[Sides]):
    """Join the rows of both sides; the state is the rows that may still match.

    ``StepResult.open_groups`` counts these rows, ``StepResult.dropped_late`` rows of windows that are over.

    Args:
        specification: what is joined.
        types: of the columns that go in.

    Raises:
        ValueError: for what the planner should have refused. That is a comparison of different types or without order,
            or a changelog (or right side of SEMI and ANTI) with values that cannot be told apart.
    """

    def __init__(self, specification: JoinSpecification, types: Sequence[pa.DataType]) -> None:
        _check(specification, types)
        self._specification = specification
        self._given = tuple(types)
        self._types = [[types[p] for p in specification.kept(side)] for side in (LEFT_SIDE, RIGHT_SIDE)]
        self._output = JoinOutput(specification, types)
        self.output_types = join_output_types(specification, types)
        self._life = self._of(specification)

    @property
    def specification(self) -> JoinSpecification:
        """What is joined."""
        return self._specification

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """The types of the columns that go in."""
        return self._given

    def partial(self, rows: pa.Table) -> pa.Table:
        """Return the rows that may come out; equal keys have equal bits after that."""
        # Before the shuffle: a row that cannot come out need not travel.
        rows = without_useless(self._specification, rows)
        keys = normalised(rows.select(range(self._specification.keys)))
        for position, column in enumerate(keys.columns):
            rows = rows.set_column(position, rows.schema.field(position), column)
        return rows

    def empty(self) -> Sides:
        """Return no rows."""
        return Sides(*(JoinRows.none(types) for types in self._types))

    def step(self, state: Sides, rows: pa.Table | None, clock: Clock) -> StepResult[Sides]:
        """Join what has come with what is held, and forget what is over."""
        new = self.empty() if rows is None else arrived(self._specification, rows)
        lived = self._life.step(state, new, clock)
        # With the empty table first there is always something to concatenate.
        out = pa.concat_tables([self._output.none(), *lived.out])
        return StepResult(lived.state, out, lived.late, 0, lived.state.rows())

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when rows expire, or a window is over."""
        return self._life.next_wakeup(state)

    @property
    def separable(self) -> bool:
        """Whether each key goes its own way: it does."""
        return True

    def open_groups(self, state: Sides) -> int:
        """Return how many rows are held."""
        return state.rows()

    def encode(self, state: Sides) -> bytes:
        """Return a state as bytes."""
        return encode_sides(state)

    def decode(self, data: bytes) -> Sides:
        """Return the state of bytes.

        Raises:
            SqlExtError: RUN-033 if it was of other columns.
        """
        return decode_sides(data, self._types)

    def of_keys(self, state: Sides, wanted: Wanted) -> Sides:
        """Return the rows of some keys."""
        keys = self._specification.keys
        return Sides(*(rows.at(places_of(wanted(rows.columns[:keys], len(rows)))) for rows in state))

    def together(self, states: Sequence[Sides]) -> Sides:
        """Return the rows of all keys."""
        return reduce(Sides.with_, states)

    def _of(self, specification: JoinSpecification) -> Life:
        match specification.bound:
            case Unbounded(left_ttl=left, right_ttl=right):
                return RegularLife(specification, self._output, (left, right))
            case IntervalBound():
                return IntervalLife(specification, self._output)
            case ArrivalBound() as bound:
                return ArrivalLife(specification, self._output, bound)
            case VersionBound():
                return TemporalLife(specification, self._output)
            case NearestBound() as bound:
                life = UpdatingNearestLife if bound.updates else NearestLife
                return life(specification, self._output, bound)
        return WindowLife(specification, self._output, self.empty())


def _check(specification: JoinSpecification, types: Sequence[pa.DataType]) -> None:
    for comparison in specification.conditions:
        require_comparable(comparison.operator, types[comparison.left], types[comparison.right])
    told_apart = [RIGHT_SIDE] if not specification.join.pairs else []
    # Rows that are taken back must be found. Versions are found by key and time, whatever their values are.
    if specification.kind is not None and not isinstance(specification.bound, VersionBound):
        told_apart = [LEFT_SIDE, RIGHT_SIDE]
    for position in (p for side in told_apart for p in specification.kept(side)):
        if not can_group(types[position]):
            raise ValueError(f"equal values of {types[position]} cannot be told from others")
