"""Hold where a step of the window engine is: its phase, clock and watermark, and the row at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

#: No watermark yet, and a deadline that has passed.
MIN: Final = -(1 << 63)
#: The end of input, the end of no window, and no deadline.
MAX: Final = (1 << 63) - 1

# The phases of a step for one group (rule M7). Rows, their end and the clock see the watermark of the step before.
ROW: Final = 1
STEP: Final = 2
TIME: Final = 3
EVENT: Final = 4

# What a trigger says of a group.
NOT: Final = 0
#: Its condition holds, but it does not start a pane in this phase (a row alone does not make a late pane).
HOLDS: Final = 1
FIRES: Final = 2
#: It fires also if no row came since the last pane.
FIRES_EMPTY: Final = 3


def later(time: int, ms: int) -> int:
    """Return a time moved on by ``ms``, at most MAX (rule M8: end + lateness saturates)."""
    return min(time + ms, MAX)


class TriggerMoment:
    """What triggers see besides their own state; one object per step, changed as the step goes on.

    Args:
        strict: whether a deadline fires only after its time (option ``deadline``).
        last_ms: whether a window ends at its last millisecond (option ``window_end``).
        each: whether missed deadlines fire one by one (option ``missed_firings``).
        merging: whether windows merge.

    Attributes:
        phase: ROW, STEP, TIME or EVENT.
        now: the batch clock (ms).
        last_row: the batch clock of the last batch in which the query had rows.
        watermark: the one that this phase goes by (ms).
        end_now: in EVENT, the window's end is passed just now.
        row: the position of the row or element at hand.
        rowtime: its event time (ms), if it has one.
        values: the numeric columns of the step's rows.
        purge: a trigger wants the contents emptied.
    """

    __slots__ = (
        "each",
        "end_now",
        "last_ms",
        "last_row",
        "merging",
        "now",
        "phase",
        "purge",
        "row",
        "rowtime",
        "strict",
        "values",
        "watermark",
    )

    def __init__(self, *, strict: bool, last_ms: bool, each: bool, merging: bool) -> None:
        self.strict = strict
        self.last_ms = last_ms
        self.each = each
        self.merging = merging
        self.phase = ROW
        # Before there is a clock or a watermark everything lies ahead: MIN reaches no deadline and no end.
        self.now = MIN
        self.last_row = MIN
        self.watermark = MIN
        self.end_now = False
        self.row = -1
        self.rowtime: int | None = None
        self.values: Sequence[npt.NDArray[Any]] = ()
        self.purge = False

    def due(self, deadline: int) -> bool:
        """Return whether a deadline of the batch clock has come (rule M2, option ``deadline``)."""
        return self.now > deadline if self.strict else self.now >= deadline

    def passing(self, end: int) -> int:
        """Return the watermark at which a window ends (option ``window_end``)."""
        return end - 1 if self.last_ms and end != MAX else end

    def ended(self, end: int) -> bool:
        """Return whether the watermark has passed a window's end."""
        return self.watermark >= self.passing(end)

    def value(self, column: int) -> float:
        """Return what the row at hand has in a numeric column; NaN for NULL."""
        value = self.values[column][self.row]
        return float("nan") if value is None or value is np.ma.masked else float(value)
