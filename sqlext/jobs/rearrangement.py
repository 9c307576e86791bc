"""Let a query go on from its checkpoint, state and all, where its sources are others now.

A query that catches up has no heartbeats, an endless one has them. Spark counts the sources of a checkpoint, and finds
them by their numbers. So a query that becomes endless, or scheduled, gets the place of each source moved to the number
that it has now. Heartbeats and ticks begin anew. State, watermark and batch numbers stay. A table that another reader
reads now has its place written anew (``sqlext.jobs.handover``).

What is overwritten is kept in one file first. A driver that dies on the way leaves that file, and the next one puts
everything back (``undo``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlext.connectors.places import moved_line
from sqlext.jobs.query_files import TIME, last_number
from sqlext.stores.location import Location

_JOURNAL = "rearranged.json"
#: Which of the sources are none of the user's.
_OWN = "checkpoint/sqlext-own-sources"
_OFFSETS, _SOURCES = "checkpoint/offsets", "checkpoint/sources"
#: Folders whose sources begin anew.
_ANEW = ("heartbeat", "ticks")
#: What readers of ours remember, a folder for each.
_READERS = "sources"
#: What Spark writes for a source that has not been read.
_NOTHING = "-"


@dataclass(frozen=True)
class Handed:
    """The place of a source, as another reader writes it.

    Attributes:
        ends: by the key of the offsets that it lies in; None where nothing has been read.
        log: the parts of Spark's log of its files.
        own: what readers of ours remember then, by folder and key.
    """

    ends: Mapping[str, str | None]
    log: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def rearrange(
    place: Location, moved: Mapping[int, int], count: int, mark: str, handed: Mapping[int, Handed] | None = None
) -> None:
    """Give the places of sources other numbers.

    Args:
        place: the query's folder.
        moved: the numbers that the user's sources have now -> those that they had in the checkpoint.
        count: how many sources there are now.
        mark: what tells the query as it is now from the one before; see ``undo``.
        handed: places that other readers go on from, by the numbers that they have now. What was seen of time was
            seen by the reader before: it begins anew, and the watermark stays.
    """
    handed = handed or {}
    offsets = {key: place.text(key) or "" for key in last_offsets(place)}
    logs = dict(_texts(place, (_SOURCES,)))
    own = [f"{_READERS}/{name}" for source in handed.values() for name in source.own]
    anew = [_SOURCES, *_ANEW, *own, *((TIME,) if handed else ())]
    _keep(place, {_OWN: place.text(_OWN) or "[]", **offsets, **dict(_texts(place, anew))}, anew, mark)
    for key, text in offsets.items():
        version, settings, *ends = text.splitlines()
        carried = [_NOTHING] * count
        for now, before in moved.items():
            carried[now] = moved_line(ends[before]) if now not in handed else handed[now].ends[key] or _NOTHING
        place.put(key, "\n".join([version, settings, *carried]))
    place.put(_OWN, json.dumps([number for number in range(count) if number not in moved]))
    for folder in anew:
        place.store.remove(folder)
    for now, before in moved.items():
        old = {} if now in handed else {k: t for k, t in logs.items() if k.startswith(f"{_SOURCES}/{before}/")}
        for key, text in old.items():
            place.put(f"{_SOURCES}/{now}/{key.removeprefix(f'{_SOURCES}/{before}/')}", text)
    for now, source in handed.items():
        written = {f"{_SOURCES}/{now}/{name}": text for name, text in source.log.items()}
        written |= {f"{_READERS}/{name}/{key}": text for name, log in source.own.items() for key, text in log.items()}
        for key, text in written.items():
            place.put(key, text)


def undo(place: Location, mark: str) -> None:
    """End what ``rearrange`` began: put everything back, unless the query as it is now has begun.

    Args:
        mark: of the query that has begun last.
    """
    kept = place.json(_JOURNAL)
    if kept is None:
        return
    if kept["mark"] != mark:
        for folder in kept.get("anew", (_SOURCES, *_ANEW)):
            place.store.remove(folder)
        for key, text in kept["before"].items():
            place.put(key, text)
    place.store.delete(_JOURNAL)


def _keep(place: Location, before: Mapping[str, str], anew: Sequence[str], mark: str) -> None:
    place.put(_JOURNAL, json.dumps({"mark": mark, "before": before, "anew": anew}))


def last_offsets(place: Location) -> Iterator[str]:
    """Yield the keys of the offsets that a restart reads: of the last micro-batch and of the one before."""
    last = last_number(place, _OFFSETS)
    yield from (f"{_OFFSETS}/{number}" for number in (last, last - 1) if number >= 0)


def _texts(place: Location, folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    for folder in folders:
        for name in list(place.names(folder)):
            # Hadoop keeps checksums in hidden files; those of files that are written anew go with them.
            if not name.rpartition("/")[2].startswith("."):
                yield f"{folder}/{name}", place.text(f"{folder}/{name}") or ""
