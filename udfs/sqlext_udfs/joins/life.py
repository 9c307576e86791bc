"""Define how long rows of a join live, and when their result comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import pyarrow as pa

from sqlext_udfs.joins.advance import Advance, Advanced
from sqlext_udfs.joins.changes import SideChange
from sqlext_udfs.joins.output import Given, JoinOutput, alone, joined, shown
from sqlext_udfs.joins.rows import Sides
from sqlext_udfs.joins.specification import LEFT_SIDE, RIGHT_SIDE, JoinSpecification
from sqlext_udfs.kernel.clock import BEFORE_ALL
from sqlext_udfs.kernel.groups import Bools
from sqlext_udfs.kernel.operator import Clock, Wakeup

SIDES = (LEFT_SIDE, RIGHT_SIDE)


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
    """What differs between the kinds of joins; a subclass is one bound of state.

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
        """Take the rows that came, and forget what is over. Neither argument is changed."""

    @abstractmethod
    def next_wakeup(self, state: Sides) -> Wakeup:
        """Return when something happens without rows (ms of watermark and batch clock)."""

    def changed(self, advanced: Advanced) -> list[Given]:
        """Return the change of the result: pairs, and rows that are in none."""
        join = self.specification.join
        parts = list(advanced.pairs)
        for side, change in zip(SIDES, (advanced.left, advanced.right), strict=True):
            after = shown(join, side, change.rows.count, change.rows.matches)
            parts.append(alone(side, after - shown(join, side, change.count, change.matches)))
        return parts

    def made(self, rows: Sides, parts: list[Given]) -> list[pa.Table]:
        """Return the rows that come out as tables: one, or none where nothing does."""
        given = joined(parts)
        return [self.output.table(*rows, given)] if len(given.weight) else []

    def useful(self, change: SideChange, side: int) -> Bools:
        """Return which rows may still change the result."""
        # A NULL key matches nothing: such a row has come out already, if at all.
        useful = (change.rows.count > 0) & (change.keys.ids >= 0)
        if side == LEFT_SIDE and self.specification.forgets_matched:
            useful &= change.rows.matches == 0
        return useful


def first_time(state: Sides) -> int | None:
    """Return the least time (ms) of all rows; None without rows."""
    return min((int(rows.time.min()) for rows in state if len(rows)), default=None)


def time_of(watermark: int | None) -> int:
    """Return a watermark; before there is one, a time before all others."""
    return BEFORE_ALL if watermark is None else watermark
