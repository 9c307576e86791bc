"""Start a job without an end in this process: a thread for each of its queries, which end together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlext.connectors.moments import ProcessingClock
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.jobs.local.running import LocalStream
from sqlext.jobs.parts import LocalPart
from sqlext.jobs.progress import Progress
from sqlext.jobs.query import JobLog, Query, end_job
from sqlext.jobs.recording import Recorder
from sqlext.local.shared_files import SharedFiles
from sqlext.local.shared_streams import SharedStream
from sqlext.local.streams import SharedTable
from sqlext.rewrite.script.shared import SharedRead
from sqlext.spark.failures import run_error
from sqlext.stores.location import Location


def start_job(
    name: str,
    parts: Sequence[LocalPart],
    log: JobLog,
    clock: ProcessingClock,
    interval: int | None,
    reads: Sequence[SharedRead] = (),
) -> Query:
    """Start a job whose queries have no end, each in a thread of its own; return its query.

    The folders of its parts are given free when it has ended.

    Args:
        clock: what time it is.
        interval: ms between the starts of two micro-batches; None: as they come.
        reads: the tables that its parts read together.

    Raises:
        SqlExtError: why it cannot begin.
    """
    query = Query(name, {p.name: Progress() for p in parts}, streaming=True, bounded=False)
    query.recorders = {p.name: Recorder(p.name, p.place.home.progress, False, p.steps) for p in parts}
    pace = None if interval is None else interval / 1000
    writes = {part.target: threading.Lock() for part in parts}
    shared = [_table(read, parts[read.members[0].query].place.home.sources) for read in reads]
    streams = {
        part.name: LocalStream(part, query, clock, pace, writes[part.target], _shared_by(number, shared))
        for number, part in enumerate(parts)
    }
    closes = [*(table.close for table in shared), *(part.place.home.close for part in parts)]
    try:
        for part in parts:
            part.place.home.begin(part.place.run)
            query.recorders[part.name].begin()
        log.started()
        query.timekeeping = {name: stream.time for name, stream in streams.items()}
        query.follow(streams)
    except BaseException as failure:
        error = run_error(failure, parts[0].span)
        end_job(query, log, closes, error, parts[0].span)
        if isinstance(failure, Exception):
            raise error from error.__cause__
        raise
    # A daemon: a process that ends does not wait for an endless query.
    job = _Job(query, list(streams.values()), log, closes)
    threading.Thread(target=job.live, name=f"sqlext {name}", daemon=True).start()
    return query


def _table(read: SharedRead, sources: Location) -> SharedTable:
    same = connector_of(read.table).has_own_positions(read.table)
    return SharedStream(read, sources) if same else SharedFiles(read, sources)


def _shared_by(query: int, tables: Sequence[SharedTable]) -> Mapping[str, SharedTable]:
    return {m.step.view: table for table in tables for m in table.read.members if m.query == query}


@dataclass(frozen=True)
class _Job:
    """The streams of a job: one that fails stops the others."""

    query: Query
    streams: Sequence[LocalStream]
    log: JobLog
    closes: Sequence[Callable[[], None]]
    _failures: list[SqlExtError] = field(default_factory=list)

    def live(self) -> None:
        """Run all streams to their end."""
        threads = [
            threading.Thread(target=self._run, args=(s,), name=f"sqlext {s.part.name}", daemon=True)
            for s in self.streams
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        end_job(self.query, self.log, self.closes, next(iter(self._failures), None), self.streams[0].part.span)

    def _run(self, stream: LocalStream) -> None:
        try:
            stream.run()
        except BaseException as failure:  # noqa: BLE001 - whatever it is must reach the caller, not die with the thread
            self._failures.append(run_error(failure, stream.part.span))
            for other in self.streams:
                other.stop()
