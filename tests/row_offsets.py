"""Windows with an offset of each row, as Python computes them: what should come out of each micro-batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

Window = tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """Windows of a fixed length; TUMBLE slides by its size.

    Attributes:
        size, step: milliseconds; the step is the slide of HOP.
        cumulates: whether they are those of CUMULATE.
    """

    size: int
    step: int
    cumulates: bool = False

    def windows(self, time: int, offset: int) -> Iterator[Window]:
        """Yield the windows of a row, by trying all starts that come into question."""
        period = self.size if self.cumulates else self.step
        first = (time - self.size - offset) // period
        for number in range(first, first + self.size // period + 2):
            start = offset + number * period
            lengths = range(self.step, self.size + 1, self.step) if self.cumulates else (self.size,)
            yield from ((start, start + length) for length in lengths if start <= time < start + length)


@dataclass(frozen=True)
class Order:
    """A row: the key has always the same offset."""

    key: str
    offset: int
    time: int
    value: int


@dataclass
class Expected:
    """What a stream should give: a window comes out when the watermark has passed its own end, whatever others do.

    Attributes:
        late: how many rows came to no open window.
    """

    grid: Grid
    watermark: int | None = None
    late: int = 0
    _open: dict[tuple[str, int, Window], list[int]] = field(default_factory=dict)

    def move(self, rows: Iterable[Order], watermark: int | None) -> list[tuple[str, int, int, int, int, int]]:
        """Return key, offset, start, end, count and sum of the windows that come out, sorted."""
        for row in rows:
            windows = [w for w in self.grid.windows(row.time, row.offset) if not self._over(w[1])]
            self.late += not windows
            for window in windows:
                self._open.setdefault((row.key, row.offset, window), []).append(row.value)
        if watermark is not None and (self.watermark is None or watermark > self.watermark):
            self.watermark = watermark
        over = sorted(key for key in self._open if self._over(key[2][1]))
        values = {key: self._open.pop(key) for key in over}
        return [(k, o, *w, len(v), sum(v)) for (k, o, w), v in values.items()]

    def _over(self, end: int) -> bool:
        return self.watermark is not None and end <= self.watermark


def of_batch(grid: Grid, rows: Sequence[Order]) -> list[tuple[str, int, int, int, int, int]]:
    """Return the windows of rows that are all there."""
    return Expected(grid).move(rows, 1 << 60)
