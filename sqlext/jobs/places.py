"""Read from a query's folder how far it has read its tables; nothing is changed there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from sqlext.connectors.places import ReadPlace, json_object, place_of_rows
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.query_files import last_number
from sqlext.locations import on_disk
from sqlext.sources.file_log import FileLog
from sqlext.stores.location import Location

_OFFSETS = "checkpoint/offsets"
#: Spark's own logs of files, a folder for each source: ``<batch>`` or ``<batch>.compact``, an object a line.
_SPARKS_FILES = "checkpoint/sources"


def read_place(home: QueryHome) -> ReadPlace:
    """Return how far a query has read its tables."""
    place = read_offsets(home)
    return replace(place, taken=frozenset((*_taken_by_spark(home.location), *_taken_by_us(home, place))))


def read_offsets(home: QueryHome) -> ReadPlace:
    """Return how far a query has read its tables, without their files."""
    last = last_number(home.location, _OFFSETS)
    text = home.location.text(f"{_OFFSETS}/{last}") if last >= 0 else None
    if text is None and (noted := home.begun_batch(home.last_batch())) is not None:  # without Spark
        return ReadPlace((*noted.get("ends", {}).values(), *noted.get("tables", {}).values()))
    # Spark's OffsetSeqLog: a line with the version, one with metadata, then one for each source.
    lines = text.splitlines()[2:] if text is not None else ()
    return ReadPlace(tuple(found for found in map(place_of_rows, lines) if found is not None))


def _taken_by_spark(place: Location) -> Iterator[str]:
    for name in place.names(_SPARKS_FILES):
        if name.rpartition("/")[2].removesuffix(".compact").isdecimal():
            text = place.text(f"{_SPARKS_FILES}/{name}") or ""
            entries = map(json_object, text.splitlines())
            yield from (unquote(on_disk(str(e["path"]))) for e in entries if e is not None and "path" in e)


def _taken_by_us(home: QueryHome, place: ReadPlace) -> Iterator[str]:
    """Yield the files that readers of ours have admitted, without those that no micro-batch has taken yet."""
    folders = {name.partition("/")[0] for name in home.sources.names()}
    for folder in folders:
        log = FileLog(home.sources.below(folder))
        position = place.only("files") if len(folders) == 1 else None
        end = min(int(str(position["files"])), len(log)) if position is not None else len(log)
        yield from (file.path for file in log.between(0, end))
