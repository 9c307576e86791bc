"""Read the versions of a Delta table: one split, whose position is a version and how many of its files are read.

As Delta's own streaming source (docs.delta.io, "Table streaming reads and writes"): what is there when a query begins
comes first, then the files that later commits add; a commit that takes rows away fails the query, unless the options
of that source say otherwise. The table's log is all that is needed to find the same files again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import NamedTuple

import pyarrow as pa

from sqlext.connectors.delta.reader.log import DeltaLog, LogFile
from sqlext.connectors.splits import Limit, Offset, Passes, Slice
from sqlext.errors import SqlExtError
from sqlext.sources.file_log import FoundFile
from sqlext.sources.file_slices import FileDecoder, FileSlice, Range, admitted, rows_of, sliced
from sqlext.stores.files import FileAccess

SPLIT = "versions"
#: Room for 16 million files of a version, and for 2**38 versions in a number of 63 bits.
_FILE_BITS = 24
#: In the offsets of Delta's own source (``DeltaSourceOffset``): the version, and the last file that was read of it.
_VERSION, _FILE = "reservoirVersion", "index"
#: Both names that Delta has had for what says that all files of the version are meant.
_WHOLE = ("isStartingVersion", "isInitialSnapshot")
#: Files of a version are fewer. A greater number stands for the end of the version.
_ALL_FILES = 1 << 40


class DeltaPosition(NamedTuple):
    """How far a table has been read: the files before are through. Positions have the order of tuples.

    Attributes:
        version: the version that is read next.
        is_commit: whether its own files are read, of that commit alone; else all that the table has then.
        files: how many of these are through, in their order.
    """

    version: int
    is_commit: bool
    files: int

    @classmethod
    def of(cls, number: int) -> DeltaPosition:
        """Return the position that a number stands for."""
        version, files = divmod(number, 1 << _FILE_BITS)
        return cls(version >> 1, bool(version & 1), files)

    @property
    def read_version(self) -> int:
        """The version of the file before this position."""
        return self.version if self.files else self.version - 1

    @property
    def number(self) -> int:
        """The position as one number, in the same order."""
        return (self.version << 1 | self.is_commit) << _FILE_BITS | self.files


def position_of(offset: Mapping[str, object]) -> DeltaPosition | None:
    """Return what an offset in a checkpoint means, ours or that of Delta's own source; None for another one's."""
    if SPLIT in offset:
        return DeltaPosition.of(int(str(offset[SPLIT])))
    if _VERSION not in offset:
        return None
    version, last = int(str(offset[_VERSION])), int(str(offset[_FILE]))
    if last >= _ALL_FILES:
        return DeltaPosition(version + 1, True, 0)
    first = next((offset[name] for name in _WHOLE if name in offset), False)
    return DeltaPosition(version, first is not True, max(last + 1, 0))


def written(position: DeltaPosition, form: Mapping[str, object]) -> Mapping[str, object]:
    """Return a position as an offset of the form that another one has, ours or that of Delta's own source."""
    if SPLIT in form:
        return {**form, SPLIT: position.number}
    whole = {name: not position.is_commit for name in _WHOLE if name in form}
    return {**form, _VERSION: position.version, _FILE: position.files - 1, **whole}


@dataclass(frozen=True, slots=True)
class MarkedSlice(FileSlice):
    """Files some of whose rows are deleted.

    Attributes:
        version: the one whose deletion vectors say which.
    """

    version: int = 0


@dataclass(frozen=True, slots=True)
class DeltaStart:
    """Where a new query begins: before a commit; without one at what is there."""

    version: int | None = None
    latest: bool = False


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What is done with commits that take rows away, by the options of Delta's source.

    Attributes:
        deletes: ``ignoreDeletes``: those that only take away are passed over.
        changes: ``ignoreChanges``: of the others the files that they add are read.
        skip: ``skipChangeCommits``: all of them are passed over.
    """

    deletes: bool = False
    changes: bool = False
    skip: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """The columns that a query reads, as they were when it opened the table.

    Attributes:
        columns: name and type of each, by its name in the files.
        version: at which they were so: what earlier commits did to columns is in them.
    """

    columns: Mapping[str, tuple[str, str]]
    version: int

    def change(self, version: int, columns: Mapping[str, tuple[str, str]] | None) -> str | None:
        """Return what a commit does to the first of them that it changes, None where it changes none."""
        if columns is None or version <= self.version:
            return None
        for held, (name, type_) in self.columns.items():
            now, now_type = columns.get(held, (None, ""))
            if now is None:
                return f"drops column `{name}`"
            if now != name:
                return f"gives column `{name}` the name `{now}`"
            if now_type != type_:
                return f"gives column `{name}` another type"
        return None


@dataclass(frozen=True)
class DeltaReader:
    """The ``SplitReader`` of a Delta table.

    Attributes:
        log: of the table.
        decoder: of its files.
        start: where a new query begins.
        tolerance: of commits that take rows away.
        tasks: into how many slices a micro-batch is cut, if it is large enough.
        watched: the columns that are read; a later commit that changes one of them ends the query.
    """

    log: DeltaLog
    decoder: FileDecoder
    start: DeltaStart = DeltaStart()
    tolerance: Tolerance = Tolerance()
    tasks: int = 2
    watched: Watched | None = None
    _known: dict[DeltaPosition, tuple[LogFile, ...]] = field(default_factory=dict, compare=False, repr=False)
    _begun: list[DeltaPosition] = field(default_factory=list, compare=False, repr=False)

    def initial(self) -> Offset:
        """Return the beginning: before the first file that is wanted."""
        start = self.start
        if start.version is not None:
            return {SPLIT: DeltaPosition(start.version, True, 0).number}
        version = self.log.version()
        return {
            SPLIT: (DeltaPosition(version + 1, True, 0) if start.latest else DeltaPosition(version, False, 0)).number
        }

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Return how far the limit lets a micro-batch go."""
        begin = DeltaPosition.of(start[SPLIT])
        self._require_there(begin)
        count = self._admitted(limit, begin)
        # Only the last one is kept: a table can have very many files.
        last = deque(islice(self._files(begin), count), maxlen=1)
        return {SPLIT: (last[0][0] if last else begin).number}

    def _admitted(self, limit: Limit | None, begin: DeltaPosition) -> int:
        """Return how many files from a position on a limit lets a micro-batch take."""
        if limit is None or limit.unit != "arrivals":
            return admitted(limit, (file.found for _, file in self._files(begin)))
        commits = groupby(self._files(begin), key=lambda placed: placed[0].read_version)
        return sum(1 for _, files in islice(commits, limit.most) for _ in files)

    def left(self, begin: DeltaPosition) -> Iterator[LogFile]:
        """Yield the files from a position on, to the latest version.

        Raises:
            SqlExtError: RUN-068, RUN-069 where a commit cannot be read.
        """
        self._require_there(begin)
        yield from (file for _, file in self._files(begin))

    def slices(self, start: Offset, end: Offset) -> Sequence[FileSlice]:
        """Return the files between two positions, cut into slices of about equal size.

        Raises:
            SqlExtError: RUN-068 if some of them are not in the log any more.
        """
        files = self._files(DeltaPosition.of(start[SPLIT]), DeltaPosition.of(end[SPLIT]))
        pieces: list[FileSlice] = []
        # In runs: rows of earlier files come first.
        for version, run in groupby(files, _version_of_marks):
            found = [file.found for _, file in run]
            if version is None:
                pieces += sliced(SPLIT, end[SPLIT], found, self.decoder, self.tasks, self.log.access)
            else:
                pieces += _marked(end[SPLIT], version, found, self.tasks, self.log.access)
        return [replace(piece, part=part) for part, piece in enumerate(pieces)]

    def read(self, piece: Slice, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice."""
        if not isinstance(piece, MarkedSlice):
            yield from rows_of(piece, self.decoder, passes)
            return
        kept = self.log.kept_rows(piece.version)
        for part in piece.ranges:
            # All row groups: the places of rows in the file count.
            yield from _kept(self.decoder.read(part), kept[part.path])

    def commit(self, end: Offset) -> None:
        """Forget the commits that are through."""
        reached = DeltaPosition.of(end[SPLIT]).version
        for place in [p for p in self._known if p.version < reached]:
            del self._known[place]

    def close(self) -> None:
        """Forget what was read of the log."""
        self._known.clear()

    def _require_there(self, begin: DeltaPosition) -> None:
        """Check the place where this process begins: time for commits to be cleaned away has passed before it alone."""
        if not self._begun and begin.is_commit:
            self.log.require(begin.version)
        self._begun[:] = [begin]

    def _files(
        self, begin: DeltaPosition, until: DeltaPosition | None = None
    ) -> Iterator[tuple[DeltaPosition, LogFile]]:
        """Yield the files from a position on, each with the position behind it."""
        version, is_commit, through = begin
        while until is None or (version, is_commit, through) < until:
            files = self._of(DeltaPosition(version, is_commit, 0))
            if files is None and until is not None:
                raise self.log.gone(version)
            if files is None:
                return
            following = DeltaPosition(version + 1, True, 0)
            for number in range(through, len(files)):
                behind = DeltaPosition(version, is_commit, number + 1) if number + 1 < len(files) else following
                if until is not None and behind > until:
                    return
                yield behind, files[number]
            version, is_commit, through = following

    def _of(self, place: DeltaPosition) -> tuple[LogFile, ...] | None:
        """Return the files of a version, None if it is not there yet."""
        if place not in self._known:
            files = self._committed(place.version) if place.is_commit else self.log.files(place.version)
            if files is None:
                return None
            self._known[place] = files
        return self._known[place]

    def _require_columns(self, version: int, change: str | None) -> None:
        if change is not None:
            raise SqlExtError(
                "RUN-082",
                f"version {version} of delta `{self.log.path}` {change}, while the query reads it",
                hint="start the query again: it takes the columns as they are then, or says which one does not fit",
            )

    def _committed(self, version: int) -> tuple[LogFile, ...] | None:
        commit, may = self.log.commit(version), self.tolerance
        if commit is not None and self.watched is not None:
            self._require_columns(version, self.watched.change(version, commit.columns))
        if commit is None or not commit.removes:
            return commit.added if commit is not None else None
        if may.skip:
            return ()
        if may.changes or (may.deletes and not commit.added):
            return commit.added
        raise SqlExtError(
            "RUN-069",
            f"version {version} of delta `{self.log.path}` takes rows away or changes them, after they were read",
            hint="'skipChangeCommits' = 'true' passes over such commits; 'readChangeFeed' = 'true' reads the changes",
        )


def _version_of_marks(placed: tuple[DeltaPosition, LogFile]) -> int | None:
    place, file = placed
    return place.read_version if file.marked else None


def _marked(end: int, version: int, files: Sequence[FoundFile], tasks: int, access: FileAccess) -> list[MarkedSlice]:
    """Return whole files in as many slices as there are tasks: each slice reads the vectors of the version once."""
    ranges = [Range(file.path, 0, file.size, access) for file in files]
    each = -(-len(ranges) // tasks)
    return [MarkedSlice(SPLIT, end, 0, tuple(ranges[i : i + each]), version) for i in range(0, len(ranges), each)]


def _kept(batches: Iterator[pa.RecordBatch], kept: pa.BooleanArray) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file that are kept; a vector may end before the file does."""
    at = 0
    for batch in batches:
        mask = kept.slice(at, batch.num_rows)
        at += batch.num_rows
        beyond = pa.array([True] * (batch.num_rows - len(mask)), pa.bool_())
        yield batch.filter(pa.concat_arrays([mask, beyond]))
