"""Keep the files that a query has admitted, in order: the position of a file is its number here.

A folder of entries, each a JSON array of files that follow one another, named by the position of its first one. Files
that were found together are one entry, and a crash leaves the log as it was or with one more.

Entries are merged once their files have been taken, so that their number stays small: the first of several gets the
files of all, in one step, and the others go. A crash in between leaves others that say nothing new. Each of them has a
greater position than the one that says it too. So whoever reads from the greatest position down misses no file, also
while another process merges.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlext.errors import SqlExtError
from sqlext.stores.location import Location

#: Twenty digits hold any number of 64 bits, so file names sort as their numbers do.
_DIGITS = 20
_ENDING = ".json"
#: Entries are merged as soon as ten times as many files come together: each file is written again once for each digit
#: of their number. Entries of the largest size stay as they are.
_SIZES = tuple(10**n for n in range(1, 6))
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

    One process appends and merges. Others may read meanwhile.

    Attributes:
        place: where it lies.
    """

    place: Location
    _starts: list[int] = field(default_factory=list)
    _paths: set[str] = field(default_factory=set)
    _leftovers: list[int] = field(default_factory=list)
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
        self._starts.append(self._count)
        self._paths.update(f.path for f in files)
        self._count += len(files)

    def between(self, start: int, end: int) -> Iterator[FoundFile]:
        """Yield the files at positions from ``start`` to before ``end``.

        Raises:
            SqlExtError: RUN-063 if the log does not have them, or is damaged.
        """
        self._load()
        if end > self._count:
            raise self._damaged(_key(self._count), f"is not there: the query has read {end} files")
        position = start
        while position < end:
            # Memory holds paths only; times and sizes are read again from the entries that are asked for.
            at, files = self._entry_of(position)
            some = files[position - at : end - at]
            yield from some
            position += len(some)

    def merge(self, taken: int) -> None:
        """Make few entries of many.

        Args:
            taken: how many files micro-batches have taken. Entries with later ones stay small: they are read soon.

        Raises:
            SqlExtError: RUN-063 if the log is damaged.
        """
        self._load()
        self._remove(self._leftovers)
        self._leftovers.clear()
        while run := self._run(taken):
            if not self._merged(run):
                return

    def _run(self, taken: int) -> Sequence[int]:
        """Return the entries that are to be one, none where those of the files that have been taken are few."""
        bounds = [*self._starts, self._count]
        count = max(bisect_right(bounds, taken) - 1, 0)
        for size in _SIZES:
            first = count
            while first > 0 and bounds[first] - bounds[first - 1] < size:
                first -= 1
            if bounds[count] - bounds[first] >= size:
                return self._starts[first:count]
        return ()

    def _merged(self, run: Sequence[int]) -> bool:
        """Give the first entry the files of all; return whether nobody else has changed it meanwhile."""
        key = _key(run[0])
        before = self.place.store.read(key)
        files = [file for at in run for file in self._read(_key(at)) or ()]
        end = next((at for at in self._starts if at > run[-1]), self._count)
        # A driver that was taken for dead must not put a shorter entry in place of a longer one.
        if before is None or len(files) != end - run[0]:
            return False
        if self.place.store.replace(key, json.dumps(files).encode(), before.stamp) is None:
            return False
        first = bisect_left(self._starts, run[0])
        del self._starts[first + 1 : first + len(run)]
        self._remove(run[1:])
        return True

    def _remove(self, starts: Sequence[int]) -> None:
        # In their order: the last entry always says how many files there are.
        for at in starts:
            self.place.store.delete(_key(at))

    def _entry_of(self, position: int) -> tuple[int, list[FoundFile]]:
        """Return the entry that has the file at a position, and where it begins."""
        for _ in range(2):
            at = self._starts[bisect_right(self._starts, position) - 1]
            files = self._read(_key(at))
            if files is not None and position < at + len(files):
                return at, files
            self._load(again=True)  # another process has merged it meanwhile
        raise self._damaged(_key(at), "is damaged")

    def _load(self, *, again: bool = False) -> None:
        # Read once: only this process adds some.
        if self._count and not again:
            return
        starts, leftovers, count = [], [], 0
        for start, files in sorted(self._sizes().items()):
            if start < count:
                leftovers.append(start)
                continue
            # Files of an entry that is gone would be taken for new ones, and their rows come a second time.
            if start != count:
                raise self._damaged(_key(count), "is not there")
            starts.append(start)
            count = start + files
        self._starts, self._leftovers, self._count = starts, leftovers, count

    def _sizes(self) -> Mapping[int, int]:
        """Return how many files each entry has, by its position, and note all paths."""
        keys = sorted((key for key in self.place.names() if key[:1].isdecimal()), reverse=True)
        sizes = {}
        for key in keys:
            files = self._read(key)
            if files is not None:
                sizes[int(key.removesuffix(_ENDING))] = len(files)
                self._paths.update(f.path for f in files)
        return sizes

    def _damaged(self, key: str, what: str) -> SqlExtError:
        message = f"`{self.place.place}/{key}` {what}; it says which files the query has read"
        return SqlExtError("RUN-063", message, hint=PUTS_LOG_BACK)

    def _read(self, key: str) -> list[FoundFile] | None:
        """Return the files of an entry, None if it is not there."""
        try:
            found = self.place.json(key)
            return None if found is None else [FoundFile(*entry) for entry in found]
        except (ValueError, TypeError):
            raise self._damaged(key, "is damaged") from None


def log_text(files: Sequence[FoundFile]) -> dict[str, str]:
    """Return the entries of a log of some files, by their keys."""
    return {_key(0): json.dumps(files)} if files else {}


def _key(start: int) -> str:
    return f"{start:0{_DIGITS}}{_ENDING}"
