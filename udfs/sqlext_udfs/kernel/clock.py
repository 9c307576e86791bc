"""Tell an operator what time it is.

Imports nothing heavy, because the rewrite uses it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

#: Before and after every possible time (ms). Sums of these with durations still fit 64 bits.
BEFORE_ALL, AFTER_ALL = -(1 << 62), 1 << 62
#: The time of a row that is refused: late for every window.
REFUSED: Final = -(1 << 61)
#: A watermark of Spark (ms) from the year 9987 on is the end of input: the heartbeat's is that of 9999, less a delay.
END_OF_INPUT: Final = 253_000_000_000_000


@dataclass(frozen=True, slots=True)
class Clock:
    """What time it is for an operator; the same for all its buckets, and when a micro-batch is retried.

    Attributes:
        watermark: milliseconds; None where the query has no event time; ``END`` when its input has come to its end.
        late_watermark: the watermark of the micro-batch before, in milliseconds: by it rows are late (rule M7). Rows
            that an operator upstream gives out in this batch are behind the current one. None in the first batch.
        now: the micro-batch's processing time in milliseconds; None where the operator does not ask for it.
    """

    #: The watermark at the end of input: nothing will come after it.
    END: ClassVar[int] = (1 << 63) - 1
    #: The watermark before the first one: later than rows that are refused, earlier than all others.
    BEGIN: ClassVar[int] = -(1 << 60)

    watermark: int | None = None
    late_watermark: int | None = None
    now: int | None = None


def behind(watermark: int | None, lag: int) -> int | None:
    """Return the watermark of an operator whose rows are so much older (ms); BEGIN and END are no times."""
    if watermark is None or watermark in (Clock.BEGIN, Clock.END):
        return watermark
    return max(watermark - lag, 0)


class Wakeup(NamedTuple):
    """The next deadlines of a state: it has nothing to do before one of them has come (or rows have).

    Attributes:
        event: the least watermark that makes something happen, in milliseconds; None if none does.
        processing: the same for the batch clock.
    """

    event: int | None = None
    processing: int | None = None
