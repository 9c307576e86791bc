"""How long rows of a join live, and when their result comes out: the three bounds of state.

Flink's rules: regular joins ``StreamingJoinOperator``, interval joins ``TimeIntervalJoin``, window joins
``WindowJoinOperator``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext.udfs.core.bucket_state import BEFORE_ALL
from sqlext.udfs.core.groups import Bools, Ints
from sqlext.udfs.core.join_advance import Advance, Advanced
from sqlext.udfs.core.join_changes import Change
from sqlext.udfs.core.join_output import Given, JoinOutput, alone, joined, shown, unmatched
from sqlext.udfs.core.join_rows import JoinRows, Sides
from sqlext.udfs.core.join_specification import LEFT_SIDE, RIGHT_SIDE, JoinKind, JoinSpecification
from sqlext.udfs.core.operators import Clock, Wakeup

_SIDES = (LEFT_SIDE, RIGHT_SIDE)


class Lived(NamedTuple):
    """What a micro-batch did.

    Attributes:
        state: what is held after it; the same object where nothing changed.
        out: the rows that come out, in pieces.
        late: how many rows came too late.
    """

    state: Sides
    out: list[pa.Table]
    late: int = 0


class Life(ABC):
    """A bound of state.

    Args:
        specification: of the join.
        output: makes the rows that come out.
    """

    def __init__(self, specification: JoinSpecification, output: JoinOutput) -> None:
        self.specification = specification
        self.output = output
        self.advance = Advance(specification)

    @abstractmethod
    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Do a micro-batch: take rows that have come."""

    @abstractmethod
    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when something happens without rows."""

    def changed(self, advanced: Advanced) -> list[Given]:
        """Return the change of the result: pairs, and rows that are in none."""
        join = self.specification.join
        parts = list(advanced.pairs)
        for side, change in zip(_SIDES, (advanced.left, advanced.right), strict=True):
            after = shown(join, side, change.rows.count, change.rows.matches)
            parts.append(alone(side, after - shown(join, side, change.count, change.matches)))
        return parts

    def made(self, rows: Sides, parts: list[Given]) -> list[pa.Table]:
        """Return rows that come out, by their places."""
        given = joined(parts)
        return [self.output.table(*rows, given)] if len(given.weight) else []

    def useful(self, change: Change, side: int) -> Bools:
        """Return which rows may still change the result."""
        useful = (change.rows.count > 0) & (change.keys.ids >= 0)
        if side == LEFT_SIDE and self.specification.forgets_matched:
            useful &= change.rows.matches == 0
        return useful


class RegularLife(Life):
    """Rows live for ever, or for some processing time after they were written."""

    def __init__(self, specification: JoinSpecification, output: JoinOutput, ttl: int | None) -> None:
        super().__init__(specification, output)
        self._ttl = ttl

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give the change of the result."""
        if self._ttl is not None:
            assert clock.now is not None, "a join whose rows have a time to live is asked with a batch clock"
            state = state.filter(*(rows.time > clock.now - self._ttl for rows in state))
            new = Sides(*(rows.written(clock.now) for rows in new))
        if not new.rows():
            return Lived(state, [])
        advanced = self.advance(state, new)
        left, right = advanced.left, advanced.right
        out = self.made(Sides(left.rows, right.rows), self.changed(advanced))
        kept = Sides(*(self._written(c, clock.now) for c in (left, right)))
        return Lived(kept.filter(self.useful(left, LEFT_SIDE), self.useful(right, RIGHT_SIDE)), out)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first row is forgotten."""
        first = _first(state)
        return Wakeup(processing=None if self._ttl is None or first is None else first + self._ttl)

    def _written(self, change: Change, now: int | None) -> JoinRows:
        """Return the rows, of which those with other matches than before count as written."""
        rows = change.rows
        if self._ttl is None or now is None:
            return rows
        return replace(rows, time=np.where(rows.matches != change.matches, now, rows.time))


class IntervalLife(Life):
    """Rows live until the watermark is greater than the time that they bring."""

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give matches at once, and rows without a match when they can have none any more."""
        # Rows that were over before (the bucket was not called then) do not meet the new ones.
        state, out = self._expired(state, clock.late_watermark)
        if new.rows():
            advanced = self.advance(state, new)
            changes = list(zip(_SIDES, (advanced.left, advanced.right), strict=True))
            rows = Sides(advanced.left.rows, advanced.right.rows)
            out += self.made(rows, [*advanced.pairs, *(alone(s, self._settled(c, s)) for s, c in changes)])
            state = rows.filter(*(self.useful(c, s) for s, c in changes))
        state, more = self._expired(state, clock.watermark)
        return Lived(state, [*out, *more])

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when the first row expires."""
        first = _first(state)
        return Wakeup(None if first is None else min(first + 1, Clock.END))

    def _settled(self, change: Change, side: int) -> Ints:
        """Return how many of each row come out now: at its first match, or because its key matches nothing."""
        join = self.specification.join
        now = shown(join, side, change.rows.count, change.rows.matches)
        return now if join is JoinKind.SEMI else np.where(change.keys.ids < 0, now, 0)

    def _expired(self, state: Sides, watermark: int | None) -> tuple[Sides, list[pa.Table]]:
        """Return the state without rows that match nothing more, and those of them that had no match."""
        over = [rows.time < _time(watermark) for rows in state]
        if not any(o.any() for o in over):
            return state, []
        join = self.specification.join
        parts = [
            alone(side, np.where(gone, unmatched(join, side, rows.count, rows.matches), 0))
            for side, rows, gone in zip(_SIDES, state, over, strict=True)
        ]
        return state.filter(*(~o for o in over)), self.made(state, parts)


class WindowLife(Life):
    """Rows live until the watermark reaches their window's end, and are joined then."""

    def __init__(self, specification: JoinSpecification, output: JoinOutput, nothing: Sides) -> None:
        super().__init__(specification, output)
        self._nothing = nothing

    def step(self, state: Sides, new: Sides, clock: Clock) -> Lived:
        """Give the result of windows that are over."""
        # Windows that were over before (the bucket was not called then) do not get the new rows.
        state, out = self._fired(state, clock.late_watermark)
        if new.rows():
            in_time = [rows.time > _time(clock.late_watermark) for rows in new]
            late = sum(int(np.count_nonzero(~i)) for i in in_time)
            taken_in = new.filter(*in_time)
            state = Sides(*(a.with_(b) for a, b in zip(state, taken_in, strict=True)))
        else:
            late = 0
        state, more = self._fired(state, clock.watermark)
        return Lived(state, [*out, *more], late)

    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return the first end of a window."""
        return Wakeup(_first(state))

    def _fired(self, state: Sides, watermark: int | None) -> tuple[Sides, list[pa.Table]]:
        """Return the state without windows that are over, and their results."""
        over = [rows.time <= _time(watermark) for rows in state]
        if not any(o.any() for o in over):
            return state, []
        advanced = self.advance(self._nothing, state.filter(*over))
        out = self.made(Sides(advanced.left.rows, advanced.right.rows), self.changed(advanced))
        return state.filter(*(~o for o in over)), out


def _first(state: Sides) -> int | None:
    """Return the least time of all rows."""
    return min((int(rows.time.min()) for rows in state if len(rows)), default=None)


def _time(watermark: int | None) -> int:
    return BEFORE_ALL if watermark is None else watermark
