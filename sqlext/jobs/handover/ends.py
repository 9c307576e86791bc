"""Write the places of a query's sources as other readers write them.

A place is a line of JSON in Spark's log of offsets. Those of files are numbers in a log of files, which lies with the
checkpoint (Spark's reader) or with the query (ours). Others say it themselves (``TablePlaces.carried``).

The other reader has begun a micro-batch that takes nothing. It tells the form of its places, and how it names the files
that are there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlext.connectors.places import TablePlaces, moved_line, place_of_rows
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.handover.files import TakenFile, as_ours, as_spark, batches, files_of_ours, files_of_spark
from sqlext.jobs.rearrangement import Handed
from sqlext.sources.file_log import FileLog

#: In places of files: how many there are before ours, and the last part of Spark's log.
_OURS, _SPARKS = "files", "logOffset"


@dataclass(frozen=True)
class FirstBatch:
    """A micro-batch that took nothing, of the query as it is now.

    Attributes:
        checkpoint: of which it is the first, below the query's folder.
        sources: how Spark describes them.
        ends: their places, as Spark writes them.
    """

    checkpoint: str
    sources: Sequence[str] = ()
    ends: Sequence[str] = ()


@dataclass(frozen=True)
class ReadTables:
    """The tables that the query as it is now reads as streams.

    Attributes:
        places: of their connectors.
        folders: of those that readers of ours read, below ``QueryHome.sources``.
    """

    places: Sequence[TablePlaces] = ()
    folders: Sequence[str] = ()


@dataclass
class Handover:
    """The places of one query on their way to other readers.

    Attributes:
        before: the folders of readers of ours before there was ``first``.
    """

    home: QueryHome
    first: FirstBatch
    reads: ReadTables
    before: Sequence[str]

    def joined(
        self, theirs: Sequence[int], ours: Sequence[int], offsets: Mapping[str, Sequence[str]]
    ) -> Mapping[int, int]:
        """Return the sources now and in the checkpoint, of a table that one of the readers reads once for all sides.

        Nothing where each side has a source with both readers.

        Raises:
            SqlExtError: RUN-027 where sides that get one source have read other rows.
        """
        if len(theirs) == len(ours) or 1 not in (len(theirs), len(ours)):
            return {}
        read = {self._read(number, next(iter(offsets.values()))[number]) for number in theirs}
        if len(read) > 1:
            raise cannot_share(self.home.name, "one side of it has read more of its table than the other")
        return dict.fromkeys(ours, theirs[0])

    def _read(self, number: int, end: str) -> object:
        """Return what stands for all that a source has read."""
        place = place_of_rows(end) or {}
        if _SPARKS not in place:
            return moved_line(end)
        return frozenset(file.key for file in self._log(number) if file.batch <= int(str(place[_SPARKS])))

    def _log(self, number: int, checkpoint: str = "checkpoint") -> list[TakenFile]:
        return files_of_spark(self.home.location, number, checkpoint)

    def handed(self, offsets: Mapping[str, Sequence[str]], moved: Mapping[int, int]) -> Mapping[int, Handed]:
        """Return the sources that other readers go on with, by the numbers that they have now.

        Args:
            offsets: the places of all sources, of the micro-batches that a restart looks at; the last one first.
            moved: the numbers of the user's sources now -> in the checkpoint.

        Raises:
            SqlExtError: RUN-027 for a place that another reader cannot have.
        """
        left = {True: [*self.reads.folders], False: [*self.before]}
        found = {}
        for now, before in moved.items():
            form = place_of_rows(self.first.ends[now])
            ends = {key: place_of_rows(lines[before]) for key, lines in offsets.items()}
            known = [end for end in ends.values() if end is not None]
            if form is None or not known or _is_of_one_reader(known[0], form):
                continue
            if _OURS in form and _SPARKS in known[0]:
                found[now] = self._files_to_us(before, ends, left[True])
            elif _SPARKS in form and _OURS in known[0]:
                found[now] = self._files_to_spark(now, ends, left[False])
            else:
                found[now] = Handed({key: self._carried(end, form) for key, end in ends.items()})
        return found

    def _carried(self, end: Mapping[str, object] | None, form: Mapping[str, object]) -> str | None:
        if end is None:
            return None
        for places in self.reads.places:
            found = places.carried(end, form) if places.is_shared(end) else None
            if found is not None:
                return json.dumps(found)
        raise cannot_share(self.home.name)

    def _files_to_us(self, before: int, ends: Mapping[str, Mapping[str, object] | None], left: list[str]) -> Handed:
        taken = self._log(before)
        counts = {
            key: sum(file.batch <= int(str(end[_SPARKS])) for file in taken) if end is not None else 0
            for key, end in ends.items()
        }
        there = {name: FileLog(self.home.sources.below(name)) for name in left}
        folder = _nearest({name: files_of_ours(log) for name, log in there.items()}, taken)
        if len(left) > 1:
            left.remove(folder)
        log = there[folder]
        own = as_ours(taken[: max(counts.values())], log.between(0, len(log)))
        return Handed(_as_lines(_OURS, counts), own={folder: own})

    def _files_to_spark(self, now: int, ends: Mapping[str, Mapping[str, object] | None], left: list[str]) -> Handed:
        there = self._log(now, self.first.checkpoint)
        logs = {name: files_of_ours(FileLog(self.home.sources.below(name))) for name in left}
        folder = _nearest(logs, there)
        # Sides of a join that Spark reads by itself begin where the one log ends.
        if len(left) > 1:
            left.remove(folder)
        counts = {key: int(str(end[_OURS])) if end is not None else 0 for key, end in ends.items()}
        parts = as_spark(logs[folder], counts.values(), there)
        numbers = {count: number for number, count in enumerate(batches(counts.values()))}
        lines = _as_lines(_SPARKS, {key: numbers[count] for key, count in counts.items() if count})
        return Handed({key: lines.get(key) for key in ends}, log=parts, own={folder: {}})


_AMID = "it is amid the files that were there when it began, which each reader has in another order"


def cannot_share(query: str, why: str = _AMID) -> SqlExtError:
    """Return the refusal of a place that only one reader understands (RUN-027)."""
    return SqlExtError(
        "RUN-027",
        f"query `{query}` cannot go on by another reader now: {why}",
        hint="let it go on as it is until it has read what is there, and then change it",
    )


def _is_of_one_reader(end: Mapping[str, object], form: Mapping[str, object]) -> bool:
    """Whether two places have a key in common, with values of one kind."""
    return any(isinstance(form.get(key), dict) == isinstance(value, dict) for key, value in end.items() if key in form)


def _as_lines(key: str, counts: Mapping[str, int]) -> dict[str, str | None]:
    return {offset: json.dumps({key: count}) for offset, count in counts.items()}


def _nearest(logs: Mapping[str, Sequence[TakenFile]], files: Iterable[TakenFile]) -> str:
    """Return the log that has most of some files, the first one of several."""
    keys = {file.key for file in files}
    shared = {name: len(keys.intersection(file.key for file in log)) for name, log in logs.items()}
    return max(shared, key=lambda name: shared[name])
