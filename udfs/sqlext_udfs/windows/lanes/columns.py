"""Hold many groups of the trigger engine as columns: what ``WindowGroup`` is for one group.

Everything that a policy decides by groups, and not by single rows, can be decided for all groups at once. Bits, slots
and flags have the same values as in ``groups.group``, so tests can compare both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlext_udfs.kernel.groups import Bools, Ints
from sqlext_udfs.windows.groups.group import CLOSED
from sqlext_udfs.windows.triggers.moment import MAX, MIN

#: A slot without a number.
NONE = MIN + 1


@dataclass
class Lanes:
    """Groups while a step works on them; one entry of each column is one of them.

    Attributes:
        end: of the window (ms, exclusive); MAX without window.
        flags, index, spec, rows, bits, slots: as in ``WindowGroup``.
        held: whether there are contents.
        gone: whether it has expired.
    """

    end: Ints
    flags: Ints
    index: Ints
    spec: Ints
    rows: Ints
    bits: Ints
    slots: list[Ints]
    held: Bools
    gone: Bools

    @classmethod
    def fresh(cls, end: Ints, initial: Sequence[int]) -> Lanes:
        """Return groups that begin now: their windows' ends, and what slots begin with."""
        flags, index, spec, rows, bits = (np.zeros(len(end), np.int64) for _ in range(5))
        held, gone = (np.zeros(len(end), np.bool_) for _ in range(2))
        return cls(end, flags, index, spec, rows, bits, [np.full(len(end), i, np.int64) for i in initial], held, gone)

    def __len__(self) -> int:
        return len(self.end)

    def numbers(self) -> tuple[Ints, ...]:
        """Return the columns of numbers in their order, without slots."""
        return self.end, self.flags, self.index, self.spec, self.rows, self.bits

    def take(self, places: Ints) -> Lanes:
        """Return the groups at some places, as copies."""
        end, flags, index, spec, rows, bits = (c[places] for c in self.numbers())
        slots = [s[places] for s in self.slots]
        return Lanes(end, flags, index, spec, rows, bits, slots, self.held[places], self.gone[places])

    def and_(self, others: Lanes) -> Lanes:
        """Return these groups and others behind them."""
        pairs = zip(self.numbers(), others.numbers(), strict=True)
        end, flags, index, spec, rows, bits = (np.concatenate(pair) for pair in pairs)
        slots = [np.concatenate(pair) for pair in zip(self.slots, others.slots, strict=True)]
        held, gone = (np.concatenate(pair) for pair in ((self.held, others.held), (self.gone, others.gone)))
        return Lanes(end, flags, index, spec, rows, bits, slots, held, gone)

    def has(self, flags: int) -> Bools:
        """Return which groups have one of some flags."""
        return np.asarray(self.flags & flags != 0)

    @property
    def closed(self) -> Bools:
        """Return which groups take no more rows."""
        return self.has(CLOSED)

    def set_flags(self, of: Bools, flags: int) -> None:
        """Give flags to some groups."""
        self.flags[of] |= flags

    def set_bits(self, of: Bools, bits: int) -> None:
        """Give bits to some groups."""
        self.bits[of] |= bits

    def take_bits(self, of: Bools, bits: int) -> None:
        """Take bits from some groups."""
        self.bits[of] &= ~bits


@dataclass
class LaneMoment:
    """Where a step is: ``TriggerMoment`` for many groups.

    Attributes:
        now: the batch clock (ms).
        watermark: the one that this phase goes by (ms).
        passing: the watermark at which each group's window ends.
        end_now: whether its end is passed just now.
        rowtime: the event time of the first row that came to it, NONE for no row; None where rows have no time.
        purge: whether a trigger wants its contents emptied.
        strict: whether a deadline fires after its time only.
    """

    now: int
    watermark: int
    passing: Ints
    end_now: Bools
    rowtime: Ints | None
    purge: Bools
    strict: bool

    def due(self, deadlines: Ints) -> Bools:
        """Return which deadlines of the batch clock have come; MAX never has."""
        come = deadlines < self.now if self.strict else deadlines <= self.now
        return np.asarray(come & (deadlines != MAX))

    def ended(self) -> Bools:
        """Return which windows the watermark has passed."""
        return np.asarray(self.passing <= self.watermark)
