"""Count how late the rows of an input are while a query reads them: few numbers, however many rows.

Times are ms since 1970 UTC. The lag of a row is how far it is behind the time that its input had reached when its
micro-batch was judged: that of the watermark, and the delay. With delays up to its lag the row is late.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
#: Numbers of seconds and of minutes.
_SIXTIETHS = (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 25, 30, 35, 40, 45, 50)
_UNITS: tuple[tuple[int, tuple[float, ...]], ...] = (
    (1, (0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900)),
    (_SECOND, _SIXTIETHS),
    (_MINUTE, _SIXTIETHS),
    (_HOUR, (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20)),
    (_DAY, (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 10, 14, 21, 30, 45, 60, 90, 180, 365, 1000, 3650)),
)
#: Lags (ms) between which rows are not told apart: delays that people write, a quarter from each other or less.
BOUNDS = tuple(int(unit * n) for unit, numbers in _UNITS for n in numbers)

#: The split that stands for the whole input (``inputs.WHOLE``).
ALL = ""
#: Some rows of a micro-batch: their smallest and largest time, and how many they are.
Points: TypeAlias = "Sequence[tuple[int, int, int]]"


@dataclass(frozen=True, slots=True)
class SplitTimes:
    """The times of some rows of a micro-batch.

    Attributes:
        split: of which split they are; ``""`` where the input is not taken apart.
        points: their times, the smallest first.
    """

    split: str
    points: Points


@dataclass(frozen=True, slots=True)
class Arrived:
    """What a micro-batch had of an input.

    Attributes:
        number: counts the micro-batches of a run.
        name: the input.
        at: when it was through, by the clock.
        judged: the watermark by which its rows were late or not; None before there was one.
        parts: the times of its rows.
    """

    number: int
    name: str
    at: int
    judged: int | None
    parts: Sequence[SplitTimes]


@dataclass
class Sketch:
    """How many rows had which lag; of rows that were counted together between which lags theirs lie.

    Attributes:
        rows: how many there were.
        surely: by the place of a bound, rows whose lag is at least that.
        perhaps: by the place of a bound, rows whose lag may reach up to the next bound.
        ahead: rows that surely lay ahead of the clock, and those that may have.
        gap: the longest time by the clock in which none came.
        since: when the first one came; None before that.

    The time for which nobody reads is no gap: a restart does not know when the last rows came.
    """

    rows: int = 0
    surely: Counter[int] = field(default_factory=Counter)
    perhaps: Counter[int] = field(default_factory=Counter)
    ahead: tuple[int, int] = (0, 0)
    gap: int = 0
    since: int | None = None
    _last: int | None = None

    def take(self, points: Points, reached: int | None, at: int) -> None:
        """Count rows of a micro-batch.

        Args:
            points: their times.
            reached: the time that their input had reached; None before it had any.
            at: when the micro-batch was through, by the clock.
        """
        if not points:
            return
        if self._last is not None:
            self.gap = max(self.gap, at - self._last)
        self.since, self._last = at if self.since is None else self.since, at
        surely, perhaps = self.ahead
        for first, last, rows in points:
            self.rows += rows
            surely, perhaps = surely + rows * (first > at), perhaps + rows * (last > at)
            if reached is None or reached < first:
                continue
            self.perhaps[bisect_right(BOUNDS, reached - first) - 1] += rows
            if reached >= last:
                self.surely[bisect_right(BOUNDS, reached - last) - 1] += rows
        self.ahead = (surely, perhaps)

    def late(self, delay: int) -> tuple[int, int]:
        """Return how many rows are late with a delay (ms) at least, and at most."""
        least, most = bisect_left(BOUNDS, delay), bisect_right(BOUNDS, delay) - 1
        return (
            sum(rows for place, rows in self.surely.items() if place >= least),
            sum(rows for place, rows in self.perhaps.items() if place >= most),
        )

    def sufficient(self, share: float) -> int:
        """Return the least delay (ms) of ``BOUNDS`` with which at most a share of the rows is late."""
        return next((b for b in BOUNDS if self.late(b)[1] <= share * self.rows), BOUNDS[-1])

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        counts = {
            name: sorted(counted.items()) for name, counted in (("surely", self.surely), ("perhaps", self.perhaps))
        }
        return {"rows": self.rows, **counts, "ahead": self.ahead, "gap": self.gap, "since": self.since}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Sketch:
        """Return what ``to_json`` gave."""
        surely, perhaps = (Counter(dict(value[name])) for name in ("surely", "perhaps"))
        return Sketch(value["rows"], surely, perhaps, tuple(value["ahead"]), value["gap"], value["since"])


@dataclass
class Sketches:
    """The sketch of an input, and of each of its splits where it is taken apart."""

    of: dict[str, Sketch] = field(default_factory=dict)

    def take(self, arrived: Arrived, delay: int) -> None:
        """Count the rows of a micro-batch, whose watermark was behind by a delay (ms)."""
        judged = arrived.judged
        reached = None if judged is None else judged + delay
        every: dict[str, list[tuple[int, int, int]]] = {ALL: []}
        for part in arrived.parts:
            every[ALL] += part.points
            if part.split != ALL:
                every.setdefault(part.split, []).extend(part.points)
        for split, points in every.items():
            self.of.setdefault(split, Sketch()).take(points, reached, arrived.at)

    def to_json(self) -> dict[str, Any]:
        """Return them as plain values."""
        return {split: sketch.to_json() for split, sketch in self.of.items()}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Sketches:
        """Return what ``to_json`` gave."""
        return Sketches({split: Sketch.from_json(sketch) for split, sketch in value.items()})


def between(smallest: int | None, largest: int | None, rows: int) -> Iterator[tuple[int, int, int]]:
    """Yield the points of rows of which only the smallest and the largest time are known."""
    if smallest is None or largest is None or rows < 1:
        return
    yield smallest, smallest, 1
    if rows > 2:
        yield smallest, largest, rows - 2
    if rows > 1:
        yield largest, largest, 1
