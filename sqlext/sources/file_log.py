"""Keep the files that a query has admitted, in order: the position of a file is its number here.

A folder of small files, each the files that were found together, named by the position of its first one. A file that
is written is never changed, so a crash leaves the log as it was or with one more.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlext.errors import SqlExtError
from sqlext.stores.location import Location

#: Twenty digits hold any number of 64 bits, so file names sort as their numbers do.
_DIGITS = 20
_ENDING = ".json"


class FoundFile(NamedTuple):
    """A file as it was found: path, time of modification in milliseconds since 1970, size in bytes."""

    path: str
    modified: int
    size: int


@dataclass
class FileLog:
    """The log of one query's source.

    Attributes:
        place: where it lies.
    """

    place: Location
    _starts: list[int] = field(default_factory=list)
    _paths: set[str] = field(default_factory=set)
    _count: int = 0

    def __len__(self) -> int:
        """Return how many files have been admitted."""
        self._load()
        return self._count

    def __contains__(self, path: str) -> bool:
        """Return whether a path has been admitted."""
        self._load()
        return path in self._paths

    def append(self, files: Sequence[FoundFile]) -> None:
        """Admit files; durable when this returns."""
        if not files:
            return
        self._load()
        # Spark writes an offset that counts these files next: a restart must find the same ones.
        self.place.put(_key(self._count), json.dumps(files))
        self._take(self._count, files)

    def between(self, start: int, end: int) -> Iterator[FoundFile]:
        """Yield the files at positions from ``start`` to before ``end``.

        Raises:
            SqlExtError: RUN-063 if the log does not have them.
        """
        self._load()
        if end > self._count:
            raise SqlExtError(
                "RUN-063",
                f"the query has read {end} files, its log in `{self.place.place}` knows {self._count}",
                hint="put the log back beside the checkpoint; DROP QUERY starts the query anew",
            )
        # Memory holds paths only; times and sizes are read again from the entries that are asked for.
        first = max(bisect_right(self._starts, start) - 1, 0)
        for at in self._starts[first:]:
            if at >= end:
                return
            for number, found in enumerate(self._read(_key(at)), at):
                if start <= number < end:
                    yield found

    def _load(self) -> None:
        # Read once: entries never change, and only this process adds some.
        if self._count:
            return
        for key in sorted(key for key in self.place.names() if key[:1].isdecimal()):
            self._take(int(key.removesuffix(_ENDING)), self._read(key))

    def _take(self, start: int, files: Sequence[FoundFile]) -> None:
        self._starts.append(start)
        self._paths.update(f.path for f in files)
        self._count = start + len(files)

    def _read(self, key: str) -> list[FoundFile]:
        return [FoundFile(*entry) for entry in self.place.json(key) or ()]


def _key(start: int) -> str:
    return f"{start:0{_DIGITS}}{_ENDING}"
