"""The rows that come, and what the sinks must have of them, worked out in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

START = datetime(2024, 1, 1)
KEYS = ("a", "b", "c")
#: Of a window, and how far apart two rows of the self-join may be, in seconds.
WINDOW, NEAR = 10, 2


@dataclass(frozen=True)
class Row:
    """A row of the input; ``second`` is its event time, since ``START``."""

    key: str
    id: int
    number: int
    second: int

    @property
    def time(self) -> datetime:
        return START + timedelta(seconds=self.second)

    @property
    def record(self) -> dict[str, Any]:
        return {"k": self.key, "id": self.id, "v": self.number, "ts": str(self.time)}


class Rows:
    """Rows in order of time, a few seconds at a time: none of them is late."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._second = 0
        self.all: list[Row] = []

    def more(self) -> list[Row]:
        """Return the rows of the next seconds."""
        found = []
        for _ in range(self._chance.randrange(1, 12)):
            self._second += self._chance.randrange(3)
            for key in self._chance.sample(KEYS, self._chance.randrange(1, 4)):
                found.append(Row(key, len(self.all) + len(found), self._chance.randrange(1000), self._second))
        self.all += found
        return found

    def last(self) -> list[Row]:
        """Return rows that close all windows before them."""
        self._second += 10 * WINDOW
        found = [Row(key, len(self.all) + n, 0, self._second) for n, key in enumerate(KEYS)]
        self.all += found
        return found


@dataclass
class Answer:
    """What the sinks must have, worked out in plain Python.

    Attributes:
        ends: whether the end of the rows closes all windows.
    """

    rows: Sequence[Row]
    ends: bool = False

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows of each sink, sorted."""
        windows: Counter[tuple[str, int]] = Counter()
        sums: Counter[tuple[str, int]] = Counter()
        totals: Counter[str] = Counter()
        for row in self.rows:
            at = row.key, row.second // WINDOW
            windows[at] += 1
            sums[at] += row.number
            totals[row.key] += row.number
        open_ = max(row.second for row in self.rows) // WINDOW + self.ends
        begins = {at: START + timedelta(seconds=at[1] * WINDOW) for at in windows}
        pairs = [
            (x.key, x.id, y.id)
            for key in KEYS
            for x in self.rows
            if x.key == key
            for y in self.rows
            if y.key == key and 0 <= y.second - x.second <= NEAR
        ]
        return {
            "counts": sorted((k, begins[k, w], n, sums[k, w]) for (k, w), n in windows.items() if w < open_),
            "early": sorted((k, begins[k, w], n) for (k, w), n in windows.items()),
            "totals": sorted(totals.items()),
            "pairs": sorted(pairs),
        }
