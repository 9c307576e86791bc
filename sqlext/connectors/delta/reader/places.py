"""Tell which versions of a Delta table a query has still to read, and whether it is the table that it has read."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.delta.reader.log import DeltaLog
from sqlext.connectors.delta.reader.tables import READER, log_of
from sqlext.connectors.delta.reader.versions import SPLIT, DeltaPosition, DeltaReader, position_of, written
from sqlext.connectors.places import Backlog, ReadPlace
from sqlext.connectors.readers import Unread
from sqlext.errors import SqlExtError
from sqlext.sources.file_tables import path_of
from sqlext.stores.location import Location
from sqlext_catalog.model import Table

#: In the offsets of Delta's own source: the table's id.
_TABLE = "reservoirId"


class DeltaPlaces:
    """The ``TablePlaces`` of Delta tables: the log says which files and rows each version has."""

    def backlog(self, table: Table, place: ReadPlace | None) -> Backlog | None:
        """Return what later versions add; see ``TablePlaces.backlog``."""
        if not path_of(table):
            return None
        try:
            reader = READER.reader(table, (), Location(path_of(table)), tasks=1)
        except Unread:
            return None
        assert isinstance(reader, DeltaReader)
        begin = DeltaPosition.of(reader.initial()[SPLIT]) if place is None else _position(reader.log, place)
        if begin is None:
            return None
        files = list(reader.left(begin))
        rows = [file.rows for file in files]
        known = sum(n for n in rows if n is not None) if None not in rows else None
        return Backlog(f"with version {begin.version}", len(files), sum(f.found.size for f in files), known)

    def is_shared(self, end: Mapping[str, object]) -> bool:
        """Return whether a place is not amid what was there at the beginning: each reader has it in another order."""
        position = position_of(end)
        return position is None or position.is_commit or not position.files

    def carried(self, end: Mapping[str, object], form: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return a version and a file of it, as the other reader writes them; see ``TablePlaces.carried``."""
        position = position_of(end)
        return written(position, form) if position is not None and position_of(form) is not None else None

    def noted(self, table: Table) -> Mapping[str, object]:
        """Return the table's id, as Delta's own source writes it; see ``TablePlaces.noted``."""
        path = path_of(table)
        identity = _identity(path) if path else None
        return {} if identity is None else {_TABLE: identity}

    def require_same(self, table: Table, place: ReadPlace, query: str) -> None:
        """Compare the table's id with those in the checkpoint; see ``TablePlaces.require_same``."""
        path = path_of(table)
        read = {str(offset[_TABLE]) for offset in place.offsets if _TABLE in offset}
        if path and read and _identity(path) not in (None, *read):
            raise SqlExtError(
                "RUN-075",
                f"query `{query}` has read another Delta table than the one that lies at `{path}` now: that one was"
                " made anew",
                hint=f"DROP QUERY `{query}` starts it anew, with the rows of the new table",
            )


def _identity(path: str) -> str | None:
    """Return the id of a table, None where it cannot be opened here: who reads it says why."""
    try:
        return log_of(path).identity()
    except Exception:  # noqa: BLE001 - deltalake has errors of its own for each kind of table that it cannot open
        return None


def _position(log: DeltaLog, place: ReadPlace) -> DeltaPosition | None:
    """Return how far a table was read; None where several could be meant."""
    ours = place.only(SPLIT)
    if ours is not None:
        return position_of(ours)
    own = [offset for offset in place.offsets if offset.get(_TABLE) == log.identity()]
    return position_of(own[0]) if len(own) == 1 else None


PLACES = DeltaPlaces()
