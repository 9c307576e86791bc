"""Read which micro-batch of a query took which file, and by which watermark it judged rows.

Spark keeps the ends and the watermarks of the last 100 micro-batches in ``checkpoint/offsets``. The files behind an end
are in ``sources/<view>`` where a reader of ours numbers them, and in ``checkpoint/sources`` where Spark does.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlext.jobs.query_files import last_number
from sqlext.locations import for_spark, local_path
from sqlext.stores.location import Location

_OFFSETS, _SOURCES, _OWN = "checkpoint/offsets", "checkpoint/sources", "checkpoint/sqlext-own-sources"
#: The batches that were begun without Spark.
_HERE = "local"
#: The source of files that a reader of ours gives has one split of this name.
_FILES = "files"


@dataclass(frozen=True)
class Taken:
    """The micro-batch that took a file.

    Attributes:
        batch: its number.
        watermark: that by which it judged rows, in ms since 1970; None before the first one, or if it is not known.
    """

    batch: int
    watermark: int | None


@dataclass(frozen=True)
class _Batch:
    number: int
    watermark: int
    files: int  # how many files were taken by its end


@dataclass(frozen=True)
class TakenFiles:
    """The micro-batches of a query over one table.

    Attributes:
        by_path: those that are known, by ``path_key`` of their files.
        whole: that of a query that took at once all that was there; None for another one.
        until: when it began, in ms since 1970 UTC: of later files it is not known.
        watermark: how far its watermark is, in ms since 1970; None if that is not known.
    """

    by_path: Mapping[str, Taken] = field(default_factory=dict)
    whole: Taken | None = None
    until: int | None = None
    watermark: int | None = None

    def of(self, path: str, arrived: int | None) -> Taken | None:
        """Return the micro-batch that took a file, None if that is not known.

        Args:
            arrived: when it was written, in ms since 1970 UTC, if that is known.
        """
        later = self.until is not None and arrived is not None and arrived > self.until
        return self.by_path.get(path_key(path), None if later else self.whole)


def taken_files(place: Location, began: int | None) -> TakenFiles:
    """Return which micro-batches of a query over one table took which files, as far as that is known.

    Args:
        place: the query's folder.
        began: when it began, in ms since 1970 UTC.
    """
    here = last_number(place, _HERE)
    if here >= 0 and last_number(place, _OFFSETS) < 0:
        return TakenFiles(whole=Taken(here, None), until=began)
    try:
        batches, number = _batches(place)
        if not batches:
            return TakenFiles()
        return TakenFiles(dict(_by_path(batches, _files(place, number))), watermark=batches[-1].watermark or None)
    except (OSError, ValueError, KeyError, TypeError):  # another version's
        return TakenFiles()


def _by_path(batches: Sequence[_Batch], files: Iterable[tuple[int, str]]) -> Iterator[tuple[str, Taken]]:
    ends = [batch.files for batch in batches]
    for position, path in files:
        index = bisect_left(ends, position + 1)
        # What came before the first batch that is kept was taken by one of those that are gone.
        if index < len(batches) and (index > 0 or batches[0].number == 0):
            # Rows are judged by the watermark of the micro-batch before.
            watermark = batches[index - 1].watermark if index else 0
            yield path_key(path), Taken(batches[index].number, watermark or None)


def path_key(path: str) -> str:
    """Return a path or URL in the one form by which files are compared."""
    return local_path(path) or for_spark(path)


def _batches(place: Location) -> tuple[Sequence[_Batch], int]:
    """Return the micro-batches that Spark remembers, and the number of the user's only source; of several, none."""
    own = set(place.json(_OWN) or ())
    numbers = sorted(int(name) for name in place.names(_OFFSETS) if name.isdecimal())
    batches, source = [], 0
    for number in numbers:
        _, settings, *ends = (place.text(f"{_OFFSETS}/{number}") or "").splitlines()
        theirs = [n for n in range(len(ends)) if n not in own]
        if len(theirs) != 1:
            return [], 0
        source = theirs[0]
        batches.append(_Batch(number, json.loads(settings)["batchWatermarkMs"], _count(ends[source])))
    return batches, source


def _count(end: str) -> int:
    """Return how many files lie before an end."""
    found = json.loads(end) if end != "-" else {_FILES: 0}
    return int(found[_FILES]) if _FILES in found else int(found["logOffset"]) + 1


def _files(place: Location, source: int) -> Iterator[tuple[int, str]]:
    """Yield positions and paths of files; those that Spark found together have one position."""
    own = sorted(name for name in place.names("sources") if name.endswith(".json"))
    position = 0
    for name in own:
        for path, *_ in place.json(f"sources/{name}"):
            yield position, path
            position += 1
    if own:
        return
    for name in place.names(f"{_SOURCES}/{source}"):
        if not name.startswith("."):
            for line in (place.text(f"{_SOURCES}/{source}/{name}") or "").splitlines()[1:]:
                entry: dict[str, Any] = json.loads(line)
                yield int(entry["batchId"]), entry["path"]
