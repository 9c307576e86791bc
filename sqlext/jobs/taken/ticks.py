"""Tell the processing time of a query's micro-batches: that of the ticks that its operators were given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlext.errors import SqlExtError
from sqlext.jobs.taken.logs import LoggedBatch, began, found_files
from sqlext.jobs.taken.model import END
from sqlext.locations import local_path
from sqlext.stores.location import Location


def tick_times(place: Location, batches: Sequence[LoggedBatch], sources: Iterable[int]) -> Mapping[int, int]:
    """Return the latest tick of each micro-batch, in ms since 1970 UTC, or ``END``; nothing before the first one.

    Args:
        place: the query's folder.
        batches: those that Spark remembers.
        sources: the numbers of those that are none of the user's.
    """
    found = {batch.number: batch.tick for batch in batches if batch.tick is not None}
    for source in sources:
        files = _files(place, source) if any(_is_log(b.ends[source]) for b in batches) else ()
        start = began(place, source)
        for batch in batches:
            end = batch.ends[source]
            ticks = [time for position, time in files if _is_log(end) and position <= int(end["logOffset"])]
            # A tick a second; the first one of a rate source is of its start.
            if isinstance(end, int) and start is not None and end > 0:
                ticks.append(start + (end - 1) * 1000)
            if ticks:
                found[batch.number] = max([*ticks, found.get(batch.number, 0)])
    return found


def _is_log(end: Any) -> bool:
    return isinstance(end, dict) and "logOffset" in end


def _files(place: Location, source: int) -> list[tuple[int, int]]:
    """Return position and time of each tick of files; of heartbeats, which are no numbers, none."""
    found = []
    for file in set(found_files(place, source)):
        words = (_text(place, file.path) or "").split()
        found += [(file.batch, min(int(word), END)) for word in words if word.isdecimal()]
    return found


def _text(place: Location, path: str) -> str | None:
    """Return a file of ticks: below the query's folder, or of a clock that the user gave."""
    name = path.rpartition("/")[2]
    with suppress(OSError, SqlExtError):
        if f"/ticks/{name}" in path:
            kept = place.text(f"ticks/{name}")
            # Those of runs before are removed; their names say what they held.
            return kept if kept is not None else name.partition(".")[0]
        own = local_path(path)
        return None if own is None else Path(own).read_text("utf-8")
    return None
