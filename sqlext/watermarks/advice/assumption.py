"""Hold how a stream is assumed to be declared and read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Assumption:
    """What is assumed of a declaration and of the query, apart from the delay.

    Attributes:
        idle: ms of silence after which a partition holds nobody back; None: never.
        per_partition: whether each partition has a watermark of its own, as those of a topic have.
        leaves_out: whether rows ahead of the clock do not count (``sqlext.watermark.max-future``).
        behind: by the watermark after how many micro-batches before it a row is judged.
        drift: ms that a partition may be ahead of the slowest before it must wait (alignment); None: any. Only
            partitions with watermarks of their own can be ahead of each other.
    """

    idle: int | None = None
    per_partition: bool = False
    leaves_out: bool = False
    behind: int = 1
    drift: int | None = None
