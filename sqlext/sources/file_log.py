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
#: What to do where the log of a query's files is damaged.
PUTS_LOG_BACK = "put the file back from a backup; DROP QUERY starts the query anew, and reads all files again"


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
            SqlExtError: RUN-063 if the log does not have them, or is damaged.
        """
        self._load()
        if end > self._count:
            raise self._damaged(_key(self._count), f"is not there: the query has read {end} files")
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
            start = int(key.removesuffix(_ENDING))
            # Files of an entry that is gone would be taken for new ones, and their rows come a second time.
            if start != self._count:
                raise self._damaged(_key(self._count), "is not there")
            self._take(start, self._read(key))

    def _damaged(self, key: str, what: str) -> SqlExtError:
        message = f"`{self.place.place}/{key}` {what}; it says which files the query has read"
        return SqlExtError("RUN-063", message, hint=PUTS_LOG_BACK)

    def _take(self, start: int, files: Sequence[FoundFile]) -> None:
        self._starts.append(start)
        self._paths.update(f.path for f in files)
        self._count = start + len(files)

    def _read(self, key: str) -> list[FoundFile]:
        try:
            return [FoundFile(*entry) for entry in self.place.json(key) or ()]
        except (ValueError, TypeError):
            raise self._damaged(key, "is damaged") from None


def _key(start: int) -> str:
    return f"{start:0{_DIGITS}}{_ENDING}"
