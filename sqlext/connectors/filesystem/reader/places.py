"""Tell which files of a folder a query has still to read."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.filesystem.reader.tables import READER
from sqlext.connectors.places import Backlog, ReadPlace
from sqlext_catalog.model import Table


class FolderPlaces:
    """The ``TablePlaces`` of folders: files have no rows that could be counted without reading them."""

    def backlog(self, table: Table, place: ReadPlace | None) -> Backlog:
        """Return the files that are new; see ``TablePlaces.backlog``."""
        READER.require_there(table)
        there = READER.stored(table)
        taken = place.taken if place is not None else frozenset()
        new = [file for file in there if file.path not in taken]
        through = len(there) - len(new)
        begins = "with the first file" if place is None else f"behind {through} file{'' if through == 1 else 's'}"
        return Backlog(begins, len(new), sum(file.size for file in new))

    def is_shared(self, end: Mapping[str, object]) -> bool:
        """Return true: each reader has a log of its files."""
        return True

    def carried(self, end: Mapping[str, object], form: Mapping[str, object]) -> None:
        """Return None: a log of files says what a place means."""

    def noted(self, table: Table) -> Mapping[str, object]:
        """Return nothing: see ``require_same``."""
        return {}

    def require_same(self, table: Table, place: ReadPlace, query: str) -> None:
        """Do nothing: a folder is what lies in it."""


PLACES = FolderPlaces()
