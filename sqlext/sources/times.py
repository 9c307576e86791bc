"""Sum up the event times of a slice: few points, from which it is told how many rows are older than any time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
#: Slices of a micro-batch whose points Spark's progress has; it has none of further ones.
PLACES = 16
#: Up to so many times each is a point of its own; of more, a point is a 1024th of the time that they span.
_FEW, _BITS = 1024, 10
#: Points that are kept while a slice is read.
_MOST = 8192
#: Points of a slice that are told as they are. Of more, rows of points that become one are at most this share of all
#: rows up to them.
_TOLD, _SHARE = 200, 0.1


@dataclass
class Times:
    """The times of a slice, in microseconds since 1970 UTC.

    Each point is the smallest time of its rows, the largest one, and how many rows there are.
    """

    _pieces: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)
    _points: int = 0

    def take(self, times: Ints) -> None:
        """Count rows with these times."""
        if not len(times):
            return
        if len(times) <= _FEW:
            distinct, rows = np.unique(times, return_counts=True)
            self._add(distinct, distinct, rows)
            return
        first, last = int(times.min()), int(times.max())
        shift = max((last - first).bit_length() - _BITS, 0)
        places = (times - first) >> shift
        rows = np.bincount(places)
        there = np.flatnonzero(rows)
        if shift and len(there) < _FEW // 4:
            # Few rows far away from all others must not make these one point.
            for heavy in there[rows[there] > len(times) // 16].tolist():
                self.take(times[places == heavy])
                rows[heavy] = 0
            there = np.flatnonzero(rows)
        starts = first + (there << shift)
        self._add(starts, np.minimum(starts + ((1 << shift) - 1), last), rows[there])

    def between(self, first: int, last: int, rows: int) -> None:
        """Count rows of which only the smallest and the largest time are known."""
        self._add(*(np.array([n], np.int64) for n in (first, last, rows)))

    def _add(self, first: Ints, last: Ints, rows: Ints) -> None:
        self._pieces.append((first, last, rows.astype(np.int64)))
        self._points += len(first)
        if self._points > _MOST:
            self._pieces = [self._fewer()]
            self._points = len(self._pieces[0][0])

    def _fewer(self) -> tuple[Ints, Ints, Ints]:
        """Return all in few points: the older their rows are, the fewer rows share a point."""
        first, last, rows = (np.concatenate(column) for column in zip(*self._pieces, strict=True))
        order = np.argsort(first, kind="stable")
        first, last, rows = first[order], last[order], rows[order]
        if len(first) <= _TOLD:
            return first, last, rows
        groups = (np.log(rows.cumsum()) / math.log1p(_SHARE)).astype(np.int64)
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        return first[starts], np.maximum.reduceat(last, starts), np.add.reduceat(rows, starts)

    def text(self, place: int, split: str, rows: int, span: tuple[int | None, int | None]) -> str:
        """Return what a slice held as Spark's progress takes it, times in milliseconds; its points if there is a place.

        Args:
            place: the number of the slice in its micro-batch.
            split: of which split the rows are.
            rows: how many were read, also those without a time.
            span: the smallest and the largest time, in microseconds; None where no row has one.
        """
        smallest, largest = (None if time is None else time // 1000 for time in span)
        told = {"split": split, "rows": rows, "smallest": smallest, "largest": largest}
        points = self.points() if place < PLACES else []
        return json.dumps({**told, "points": points}, separators=(",", ":"))

    def points(self) -> list[tuple[int, int, int]]:
        """Return the points, in milliseconds, the oldest first."""
        if not self._pieces:
            return []
        first, last, rows = self._fewer()
        return list(zip((first // 1000).tolist(), (last // 1000).tolist(), rows.tolist(), strict=True))


def from_text(text: str) -> Mapping[str, Any]:
    """Return ``split``, ``rows``, ``smallest``, ``largest`` and ``points`` of a text."""
    found: Mapping[str, Any] = json.loads(text)
    return found
