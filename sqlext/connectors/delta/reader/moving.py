"""Move the places of queries that read a Delta table behind all that it has, when its rows have been replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlext.connectors.delta.reader.log import DeltaLog
from sqlext.connectors.delta.reader.versions import SPLIT, DeltaPosition, position_of, written
from sqlext.connectors.places import json_object

#: In the offsets of Delta's own source (``DeltaSourceOffset``): the table's id.
_TABLE = "reservoirId"


def places_in(ends: Sequence[str], logs: Sequence[DeltaLog], *, alone: bool) -> tuple[Mapping[str, object] | None, ...]:
    """Return which places of sources are those of tables, as objects; None for the others.

    Args:
        ends: lines of Spark's log of offsets.
        alone: whether no other Delta table is read: places of our own reader do not say whose they are.
    """
    found = [json_object(end) for end in ends]
    known = {log.identity() for log in logs}
    theirs = [place if place is not None and place.get(_TABLE) in known else None for place in found]
    ours = [place if place is not None and SPLIT in place else None for place in found]
    if any(theirs):
        return tuple(theirs)
    return tuple(ours) if alone or sum(place is not None for place in ours) == 1 else tuple(None for _ in found)


def behind(place: Mapping[str, object], log: DeltaLog) -> str:
    """Return a place moved behind the last version of a table, in its own form."""
    moved = written(DeltaPosition(log.version() + 1, is_commit=True, files=0), place)
    return json.dumps(moved if SPLIT in moved else {**moved, _TABLE: log.identity()})


def has_more(place: Mapping[str, object], log: DeltaLog) -> bool:
    """Return whether a table has rows behind a place."""
    position = position_of(place)
    if position is None or (not position.is_commit and position.version <= log.version()):
        return True
    first = position.version
    commits = [log.commit(version) for version in range(first, log.version() + 1)]
    left = [len(commit.added) if commit is not None else 1 for commit in commits]
    return any(count > (position.files if number == 0 else 0) for number, count in enumerate(left))
