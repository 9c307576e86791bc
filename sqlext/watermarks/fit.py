"""Tell whether what arrives still fits the declared watermark: how many rows of late came behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlext.watermarks.history import Sample

#: ms that are looked back on.
OF_LATE = 5 * 60_000
#: From which share of late rows on, and from how many, a declaration no longer fits.
_SHARE, _LEAST = 0.01, 10
_NOTHING = Sample(0, None, {}, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Misfit:
    """More rows are late than the declared watermark should let be.

    Attributes:
        rows: rows read in ``OF_LATE``, or since the query was started if that is less.
        late: late ones of them, dropped or kept.
        inputs: those that were read.
    """

    rows: int
    late: int
    inputs: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in words, with what to do about it."""
        asked = " or ".join(f"`ANALYZE WATERMARK FOR {name}`" for name in self.inputs) or "ANALYZE WATERMARK"
        return (
            f"{100 * self.late / self.rows:.3g}% of the rows of the last {OF_LATE // 60_000} minutes were late "
            f"({self.late:,} of {self.rows:,}): the declared watermark leaves them too little time; "
            f"{asked} says what another delay would lose"
        )


def misfit(samples: Sequence[Sample], now: int) -> Misfit | None:
    """Return what does not fit, None if the watermark fits.

    Args:
        samples: how the query went, oldest first.
        now: ms since 1970 UTC.
    """
    last = samples[-1] if samples else _NOTHING
    start = next((s for s in reversed(samples) if s.at <= now - OF_LATE or s.began != last.began), _NOTHING)
    before = start if start.began == last.began else _NOTHING
    rows = last.rows_in - before.rows_in
    late = min(rows, last.rows_late + last.rows_dropped - before.rows_late - before.rows_dropped)
    if late < max(_LEAST, _SHARE * rows):
        return None
    return Misfit(rows, late, tuple(sorted({*last.inputs, *last.read})))
