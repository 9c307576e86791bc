"""Find queries: those that this session runs, and those with a record in the catalog, with what they keep."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError
from sqlext.jobs.query_files import PROGRESS, TIME
from sqlext.jobs.recording import Failure, Outline, read_failure, read_outline
from sqlext.jobs.timekeeping import read_report
from sqlext.session.records import home_location
from sqlext.stores.lease import is_held
from sqlext.stores.location import Location
from sqlext.watermarks.history import FILE, Sample, read_samples, thinned
from sqlext.watermarks.report import TimeReport
from sqlext_catalog.ddl.queries import job_of
from sqlext_catalog.model import QueryRecord
from sqlext_catalog.snapshot import Snapshot

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.session.state import SessionState

#: Seconds between two looks into an object store.
_PATIENCE = 10.0
#: The state of a query whose record says that it runs, and which nobody drives.
LOST = "lost"


@dataclass(frozen=True, slots=True)
class Observed:
    """A query as it is known now.

    Attributes:
        here: whether it runs in this process.
        place: its folder, None of a query that has no record.
        samples: how it went, oldest first.
    """

    name: str
    job: str
    state: str
    here: bool
    record: QueryRecord | None
    place: Location | None
    outline: Outline | None
    report: TimeReport | None
    samples: Sequence[Sample]
    failure: Failure | None


class Sources:
    """Finds queries, and reads of their files what is new.

    Args:
        state: the session's. The catalog is read through a store of its own: sessions are of one thread.
        clock: ms since 1970 UTC: leases end by it.
    """

    def __init__(self, state: SessionState, clock: Callable[[], int]) -> None:
        self._state = state
        self._clock = clock
        self._store = state.catalog.another_store()
        self._kept: dict[str, _Folder] = {}

    def observed(self, running: Sequence[Query]) -> Iterator[Observed]:
        """Yield all queries, those with a record in the order of their names.

        Args:
            running: the queries of the session that run.
        """
        mine = {name: query for query in running for name in query.parts}
        records = {record.name: record for record in self._store.snapshot().queries()}
        for name, query in mine.items():
            if name not in records:
                yield self._here(name, query, None)
        for name, record in sorted(records.items()):
            own = mine.get(name)
            yield self._here(name, own, record) if own is not None else self._elsewhere(record)

    def snapshot(self) -> Snapshot:
        """Return the catalog as it is now."""
        return self._store.snapshot()

    def place(self, record: QueryRecord) -> Location:
        """Return the folder of a query."""
        return home_location(self._state.folder, record, self._state.stores)

    def _here(self, name: str, query: Query, record: QueryRecord | None) -> Observed:
        recorder = query.recorders.get(name)
        return Observed(
            name,
            query.name,
            "running",
            True,
            record,
            self.place(record) if record is not None else None,
            recorder.outline if recorder is not None else None,
            query.time_report(name),
            query.time_samples(name),
            None,
        )

    def _elsewhere(self, record: QueryRecord) -> Observed:
        place = self.place(record)
        folder = self._kept.get(record.name)
        if folder is None or folder.place != place:
            folder = self._kept[record.name] = _Folder(place, self._clock)
        try:
            return folder.look(record)
        except (OSError, SqlExtError, ValueError):  # a store does not answer: one query must not hide all others
            return Observed(record.name, job_of(record), record.status, False, record, place, None, None, (), None)


class _Folder:
    """What lies in the folder of a query that another process runs, or has run."""

    def __init__(self, place: Location, clock: Callable[[], int]) -> None:
        self.place = place
        self._clock = clock
        self._seen: Observed | None = None
        self._looked = 0.0
        self._samples: list[Sample] = []
        self._read: tuple[int, int] = (0, 0)  # the file, and how far it was read

    def look(self, record: QueryRecord) -> Observed:
        """Return the query as its files have it now."""
        seen, now = self._seen, time.monotonic()
        if seen is not None and seen.record == record and self.place.path is None and now - self._looked < _PATIENCE:
            return seen
        self._looked, progress = now, self.place.below(PROGRESS)
        lost = record.status == "running" and not is_held(self.place.store, self._clock)
        self._seen = Observed(
            record.name,
            job_of(record),
            LOST if lost else record.status,
            False,
            record,
            self.place,
            read_outline(progress),
            read_report(self.place.below(TIME)),
            self._taken(progress),
            read_failure(progress) if record.status == "failed" else None,
        )
        return self._seen

    def _taken(self, progress: Location) -> Sequence[Sample]:
        """Return the samples; of a file that grows, only what is new is read."""
        if progress.path is None:
            return thinned(list(read_samples(progress.text(FILE) or "")))
        try:
            with (progress.path / FILE).open("rb") as stream:
                file, whole = os.fstat(stream.fileno()).st_ino, stream.seek(0, os.SEEK_END)
                known, start = self._read
                if file != known or whole < start:
                    self._samples, start = [], 0
                stream.seek(start)
                text = stream.read()
        except FileNotFoundError:
            return ()
        # A line that is being written is read when it is whole.
        complete = text[: text.rfind(b"\n") + 1]
        self._read = (file, start + len(complete))
        new = list(read_samples(complete.decode("utf-8")))
        if new:
            self._samples = thinned([*self._samples, *new])
        return self._samples
