"""Describe how far a query has read its tables, and what it has still to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlext.connectors.moments import rows_alone, time_alone
from sqlext_catalog.model import Table


@dataclass(frozen=True, slots=True)
class ReadPlace:
    """How far a query has read its tables.

    Attributes:
        offsets: what its checkpoint says of each source, where that is an object of JSON.
        taken: the files that it has taken.
    """

    offsets: tuple[Mapping[str, object], ...] = ()
    taken: frozenset[str] = frozenset()

    def only(self, key: str) -> Mapping[str, object] | None:
        """Return the offset that has a key, None if none or several have it: nothing says whose they are."""
        found = [offset for offset in self.offsets if key in offset]
        return found[0] if len(found) == 1 else None


def json_object(text: str) -> dict[str, object] | None:
    """Return the object of JSON that a line or a file of a checkpoint is, None where it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def place_of_rows(line: str) -> dict[str, object] | None:
    """Return the place that a line is, without what it says of time; None where it is no object of JSON."""
    found = json_object(line)
    return None if found is None else rows_alone(found)


def moved_line(line: str, to: str = "{}") -> str:
    """Return the place that a line of a checkpoint is, with what another line says of time in place of its own."""
    place, time = json_object(line), time_alone(json_object(to) or {})
    # A line that says nothing of time stays as it was written: lines are compared.
    return line if place is None or time_alone(place) == time else json.dumps({**rows_alone(place), **time})


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a query reads of a table before it has caught up.

    Attributes:
        begins: where it begins, in words.
        rows: None where files do not say it.
    """

    begins: str
    files: int
    bytes: int
    rows: int | None = None


class TablePlaces(Protocol):
    """The part of a connector that tells how far its tables have been read. It changes nothing."""

    def backlog(self, table: Table, place: ReadPlace | None) -> Backlog | None:
        """Return what a query has still to read of a table.

        Args:
            place: how far it has read; None for a query that begins.

        Returns:
            None where that cannot be known.

        Raises:
            SqlExtError: OPT-009 where there is nothing, RUN-068 and RUN-069 where the query cannot read on.
        """

    def is_shared(self, end: Mapping[str, object]) -> bool:
        """Return whether another reader can go on from a place of one reader; of one of another connector true."""

    def carried(self, end: Mapping[str, object], form: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return a place of one reader as another one writes it.

        Args:
            form: any place of the other one, of the same table.

        Returns:
            None for places of another connector, and where a log of files says what they mean.
        """

    def noted(self, table: Table) -> Mapping[str, object]:
        """Return what tells a table from another one in its place, for ``ReadPlace.offsets``."""

    def require_same(self, table: Table, place: ReadPlace, query: str) -> None:
        """Check that a table is the one that a query of this name has read.

        Raises:
            SqlExtError: RUN-075 if another one lies there.
        """
