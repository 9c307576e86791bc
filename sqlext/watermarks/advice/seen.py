"""Make the rows of ANALYZE WATERMARK FROM QUERIES: what each delay would lose of the rows that a query has read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlext.watermarks.sketch import ALL, BOUNDS, Sketch, Sketches
from sqlext.watermarks.texts import duration

#: Shares of rows to lose, at last none.
_SHARES = (0.1, 0.01, 0.001, 0.0001, 0.00001, 0.0)
_DIGITS = 6
COLUMNS = (
    "query",
    "input",
    "partition",
    "delay",
    "declared",
    "rows",
    "late at least",
    "late at most",
    "share at most",
    "longest gap",
    "rows ahead",
)


@dataclass(frozen=True)
class SeenLateness:
    """What a query has seen of a table.

    Attributes:
        query: its name.
        input: the table as the query reads it: ``orders#2`` where it reads it twice.
        declared: the delay (ms) that its watermark has.
        sketches: how late the rows were.
    """

    query: str
    input: str
    declared: int
    sketches: Sketches

    @property
    def whole(self) -> Sketch:
        """How late all rows were."""
        return self.sketches.of.get(ALL, Sketch())

    @property
    def enough(self) -> int:
        """The least delay (ms) with which at most one row in 1,000 is late."""
        return self.whole.sufficient(0.001)

    def looked_at(self, asked: Sequence[int] = ()) -> list[int]:
        """Return the delays (ms) that are looked at: those that are asked for, or chosen ones; and the declared one."""
        chosen = asked or [0, *(self.whole.sufficient(share) for share in _SHARES)]
        return sorted({*chosen, self.declared})

    def rows(self, asked: Sequence[int] = (), most: int = 10) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each delay: of all rows, then of each partition, those with most late rows first.

        Args:
            asked: delays (ms) to look at; none: they are chosen.
            most: how many partitions are shown.
        """
        delays = self.looked_at(asked)
        splits = [(name, sketch) for name, sketch in self.sketches.of.items() if name != ALL]
        splits.sort(key=lambda split: (-split[1].late(self.declared)[1], split[0]))
        for name, sketch in [(None, self.whole), *splits[:most]]:
            for delay in delays:
                least, late = sketch.late(delay)
                counted = (sketch.rows, least, late, round(late / sketch.rows, _DIGITS) if sketch.rows else 0.0)
                about = (timedelta(milliseconds=sketch.gap), sketch.ahead[0])
                is_declared = delay == self.declared
                yield self.query, self.input, name, timedelta(milliseconds=delay), is_declared, *counted, *about

    def curve(self) -> list[tuple[int, float, float]]:
        """Return delays (ms), and the share of rows that is late with each at least and at most.

        The last delay is the first with which none is late. Between two delays nothing is known.
        """
        whole = self.whole
        if not whole.rows:
            return []
        last = max(whole.sufficient(0.0), self.declared)
        delays = sorted({*(b for b in BOUNDS if b <= last), self.declared})
        late = ((d, *whole.late(d)) for d in delays)
        return [(d, least / whole.rows, most / whole.rows) for d, least, most in late]

    def summary(self) -> str:
        """Return in a line how sure it is, and which delay would do."""
        whole, name = self.whole, f"`{self.query}`"
        if not whole.rows:
            return f"{name} has read no rows of `{self.input}` yet."
        least, most = whole.late(self.declared)
        lost = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        enough = self.enough
        declared = _shown(self.declared)
        return (
            f"{name} has read {whole.rows:,} rows of `{self.input}`. With the declared delay of {declared} "
            f"{lost} were late; with {_shown(enough)} it would be at most {whole.late(enough)[1]:,}."
        )


def _shown(ms: int) -> str:
    return duration(ms) if ms else "0 s"
