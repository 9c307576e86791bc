"""Read which micro-batch of a query took which file or row, and by which watermark it judged rows.

Spark keeps the ends and the watermarks of the last 100 micro-batches in ``checkpoint/offsets``. An end is a number for
each split, or stands for files. These are in ``sources/<view>`` where a reader of ours numbers them, and in
``checkpoint/sources`` where Spark does.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """The micro-batch that took a file or a row.

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
    end: Mapping[str, Any]  # of its only source
    splits: Mapping[str, int]  # what that means by split; empty where it stands for files


@dataclass(frozen=True)
class TakenFiles:
    """The micro-batches of a query over one table.

    Attributes:
        by_path: those that are known, by ``path_key`` of their files.
        by_split: of each split the ends of those that are known, in their order.
        whole: that of a query that took at once all that was there; None for another one.
        until: when it began, in ms since 1970 UTC: of later files it is not known.
        watermark: how far its watermark is, in ms since 1970; None if that is not known.
    """

    by_path: Mapping[str, Taken] = field(default_factory=dict)
    whole: Taken | None = None
    until: int | None = None
    watermark: int | None = None
    by_split: Mapping[str, Sequence[tuple[int, Taken]]] = field(default_factory=dict)

    def of(self, path: str, arrived: int | None) -> Taken | None:
        """Return the micro-batch that took a file, None if that is not known.

        Args:
            arrived: when it was written, in ms since 1970 UTC, if that is known.
        """
        later = self.until is not None and arrived is not None and arrived > self.until
        return self.by_path.get(path_key(path), None if later else self.whole)

    def of_position(self, split: str, begin: int, end: int) -> Taken | None:
        """Return the micro-batch that took what lies between two positions of a split; None if not one alone did."""
        known = self.by_split.get(split, ())
        index = bisect_right([reached for reached, _ in known], begin)
        if index == len(known) or known[index][0] < end:
            return None
        taken = known[index][1]
        # What came before the first batch that is kept was taken by one of those that are gone.
        return taken if index or taken.batch == 0 else None


def taken_files(
    place: Location, began: int | None, reached: Callable[[Mapping[str, object]], Mapping[str, int]] | None = None
) -> TakenFiles:
    """Return which micro-batches of a query over one table took what, as far as that is known.

    Args:
        place: the query's folder.
        began: when it began, in ms since 1970 UTC.
        reached: the positions by split that an end stands for (``TableReader.reached``).
    """
    here = last_number(place, _HERE)
    if here >= 0 and last_number(place, _OFFSETS) < 0:
        return TakenFiles(whole=Taken(here, None), until=began)
    try:
        batches, number = _batches(place, reached or (lambda _: {}))
        if not batches:
            return TakenFiles()
        watermark = batches[-1].watermark or None
        if any(batch.splits for batch in batches):
            return TakenFiles(watermark=watermark, by_split=_by_split(batches))
        return TakenFiles(dict(_by_path(batches, _files(place, number))), watermark=watermark)
    except (OSError, ValueError, KeyError, TypeError):  # another version's
        return TakenFiles()


def _by_path(batches: Sequence[_Batch], files: Iterable[tuple[int, str]]) -> Iterator[tuple[str, Taken]]:
    ends = [_count(batch.end) for batch in batches]
    for position, path in files:
        index = bisect_left(ends, position + 1)
        # What came before the first batch that is kept was taken by one of those that are gone.
        if index < len(batches) and (index > 0 or batches[0].number == 0):
            # Rows are judged by the watermark of the micro-batch before.
            watermark = batches[index - 1].watermark if index else 0
            yield path_key(path), Taken(batches[index].number, watermark or None)


def _by_split(batches: Sequence[_Batch]) -> Mapping[str, Sequence[tuple[int, Taken]]]:
    """Return the ends of micro-batches by split; nothing where one of them is not understood."""
    if any(batch.end and not batch.splits for batch in batches):
        return {}
    found: dict[str, list[tuple[int, Taken]]] = {}
    for index, batch in enumerate(batches):
        watermark = batches[index - 1].watermark if index else 0
        for split in {split for each in batches for split in each.splits}:
            taken = Taken(batch.number, watermark or None)
            found.setdefault(split, []).append((batch.splits.get(split, 0), taken))
    return found


def path_key(path: str) -> str:
    """Return a path or URL in the one form by which files are compared."""
    return local_path(path) or for_spark(path)


def _batches(
    place: Location, reached: Callable[[Mapping[str, object]], Mapping[str, int]]
) -> tuple[Sequence[_Batch], int]:
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
        end = json.loads(ends[source]) if ends[source] != "-" else {}
        batches.append(_Batch(number, json.loads(settings)["batchWatermarkMs"], end, reached(end)))
    return batches, source


def _count(end: Mapping[str, Any]) -> int:
    """Return how many files lie before an end."""
    if not end:
        return 0
    return int(end[_FILES]) if _FILES in end else int(end["logOffset"]) + 1


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
