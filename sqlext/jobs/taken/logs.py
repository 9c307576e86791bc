"""Read Spark's logs of a query: the ends of its micro-batches, and the files that its sources found.

Spark keeps the ends and the watermarks of the last 100 micro-batches in ``checkpoint/offsets``, a line for each source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlext.connectors.moments import CLOCK, rows_alone
from sqlext.jobs.query_files import last_number
from sqlext.stores.location import Location

OFFSETS = "checkpoint/offsets"
_COMMITS, _SOURCES, _OWN = "checkpoint/commits", "checkpoint/sources", "checkpoint/sqlext-own-sources"
#: What Spark writes for a source that has not been read.
_NOTHING = "-"


@dataclass(frozen=True)
class LoggedBatch:
    """A micro-batch as Spark has planned it.

    Attributes:
        number: its own.
        watermark: in ms since 1970; 0 before the first one.
        at: when it was planned, in ms since 1970 UTC.
        ends: the end of each source, as JSON; empty for one that has not been read.
        tick: the processing time (ms since 1970 UTC) that readers of ours told with their rows; None if none did.
        done: whether it has been committed.
    """

    number: int
    watermark: int
    at: int | None
    ends: Sequence[Any]
    done: bool
    tick: int | None = None


def logged_batches(place: Location) -> list[LoggedBatch]:
    """Return the micro-batches that Spark remembers, in their order.

    Raises:
        OSError, ValueError, KeyError, TypeError: for logs of another version.
    """
    done = last_number(place, _COMMITS)
    batches = []
    for number in sorted(int(name) for name in place.names(OFFSETS) if name.isdecimal()):
        _, settings, *ends = (place.text(f"{OFFSETS}/{number}") or "").splitlines()
        found = json.loads(settings)
        read = [{} if end == _NOTHING else json.loads(end) for end in ends]
        ticks = [end[CLOCK] for end in read if isinstance(end, dict) and CLOCK in end]
        read = [rows_alone(end) if isinstance(end, dict) else end for end in read]
        at, tick = found.get("batchTimestampMs"), max(ticks, default=None)
        batches.append(LoggedBatch(number, found["batchWatermarkMs"], at, read, number <= done, tick))
    return batches


def own_sources(place: Location) -> frozenset[int]:
    """Return the numbers of the sources that are none of the user's: heartbeats and ticks."""
    return frozenset(place.json(_OWN) or ())


class FileOfSpark(NamedTuple):
    """A file that a source of Spark's found.

    Attributes:
        batch: its position: those found together have one.
        path: a URL, as Spark writes it.
        modified: ms since 1970 UTC.
    """

    batch: int
    path: str
    modified: int


def found_files(place: Location, source: int, checkpoint: str = "checkpoint") -> Iterator[FileOfSpark]:
    """Yield the files that a source of Spark's found; one may come again where parts of its log are summed up.

    Args:
        place: the query's folder.
        source: the number of the source.
        checkpoint: below the query's folder.
    """
    log = f"{checkpoint}/sources/{source}"
    for name in place.names(log):
        if not name.startswith("."):
            for line in (place.text(f"{log}/{name}") or "").splitlines()[1:]:
                entry: dict[str, Any] = json.loads(line)
                yield FileOfSpark(int(entry["batchId"]), entry["path"], int(entry["timestamp"]))


def began(place: Location, source: int) -> int | None:
    """Return when a rate source began, in ms since 1970 UTC; None if that is not known."""
    lines = (place.text(f"{_SOURCES}/{source}/0") or "").splitlines()
    return int(lines[1]) if len(lines) > 1 and lines[1].isdecimal() else None
