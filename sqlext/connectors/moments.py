"""Tell a query what time it is with the rows of a source: in its places, beside the splits.

A place of a reader of ours is a number for each split. Where the reader also tells the time, its place has more:

@watermark   the last heartbeat: a watermark in ms since 1970 UTC
@given       when that was given: a keeper that starts again may give the same watermark once more
@clock       the last tick: processing time in ms since 1970 UTC

So Spark's log of places says what each micro-batch was told, and one that is run again is told the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from sqlext.stores.location import Location

#: No split has such a name: topics cannot have it, and splits of other sources are words of ours.
_SIGN = "@"
WATERMARK, GIVEN, CLOCK = f"{_SIGN}watermark", f"{_SIGN}given", f"{_SIGN}clock"
#: The column of packed rows that has a heartbeat, in a row without rows.
BEAT = "beat"
_SECOND = 1000
_T = TypeVar("_T")


class ProcessingClock:
    """Processing time in ms: the machine's, or the last line of a folder of text files (``sqlext.clock``)."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = Path(folder) if folder is not None else None

    def now(self) -> int:
        """Return the time; a clock of files that has not begun stands at 0."""
        return self.shown() or 0

    def shown(self) -> int | None:
        """Return the time; None for a clock of files that has not begun."""
        if self._folder is None:
            return time.time_ns() // 1_000_000
        lines = (line for file in self._folder.glob("[!._]*") for line in file.read_text("utf-8").split())
        return max(map(int, lines), default=None)


class TimeMessage(NamedTuple):
    """What a micro-batch is told of time, in ms since 1970 UTC.

    Attributes:
        watermark: a heartbeat: how far the input's watermark is at least; None if there is none.
        tick: the processing time; None if there is no tick.
    """

    watermark: int | None = None
    tick: int | None = None


class TimeGiver(Protocol):
    """Says what a place says of time."""

    def at(self, start: Mapping[str, int]) -> Mapping[str, int]:
        """Return it for the end of a micro-batch that begins at ``start``."""


@dataclass(frozen=True)
class Ticks:
    """When processing time is told.

    Attributes:
        runs: whether it is told once a second, and not only to the first micro-batch.
        folder: a clock of files, which is told whenever it has moved; None for the machine's.
    """

    runs: bool
    folder: str | None = None

    def due(self, last: int | None) -> int | None:
        """Return the time (ms) if it is to be told again, None if not.

        Args:
            last: the tick before; None for the first one.
        """
        now = ProcessingClock(self.folder).shown()
        if now is None or last is None:
            return now
        if self.folder is not None:
            return now if now > last else None
        return now if self.runs and now // _SECOND > last // _SECOND else None


@dataclass(frozen=True)
class TimeWithRows:
    """What a query tells the reader of one of its sources.

    Attributes:
        time: the folder of the time keeper.
        number: of the input, whose heartbeats the keeper writes; None where nobody keeps its time.
        ticks: None where no operator asks what time it is.
    """

    time: Location
    number: int | None = None
    ticks: Ticks | None = None

    def at(self, start: Mapping[str, int]) -> Mapping[str, int]:
        """Return what is new, and else what ``start`` says; see ``TimeGiver``."""
        told = time_alone(start)
        if self.number is not None:
            told |= self.time.json(heartbeat_key(self.number)) or {}
        tick = self.ticks.due(told.get(CLOCK)) if self.ticks is not None else None
        return told if tick is None else {**told, CLOCK: tick}


@dataclass(frozen=True)
class FixedTime:
    """What is told once and no more; see ``TimeGiver``."""

    told: Mapping[str, int]

    def at(self, start: Mapping[str, int]) -> Mapping[str, int]:
        """Return it."""
        return self.told


def heartbeat_key(number: int) -> str:
    """Return the key of an input's last heartbeat in the time keeper's folder."""
    return f"beats/{number}.json"


def heartbeat(watermark: int) -> str:
    """Return a heartbeat as JSON; times in ms since 1970 UTC."""
    return json.dumps({WATERMARK: watermark, GIVEN: time.time_ns() // 1_000_000})


def moment_between(start: Mapping[str, int], end: Mapping[str, int]) -> TimeMessage | None:
    """Return what a micro-batch is told; None if that is nothing."""
    beat = end.get(WATERMARK) if start.get(GIVEN) != end.get(GIVEN) else None
    tick = end.get(CLOCK) if start.get(CLOCK) != end.get(CLOCK) else None
    return None if beat is None and tick is None else TimeMessage(beat, tick)


def rows_alone(place: Mapping[str, _T]) -> dict[str, _T]:
    """Return a place without what it says of time."""
    return {key: at for key, at in place.items() if not key.startswith(_SIGN)}


def time_alone(place: Mapping[str, _T]) -> dict[str, _T]:
    """Return what a place says of time."""
    return {key: at for key, at in place.items() if key.startswith(_SIGN)}
