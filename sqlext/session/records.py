"""Record started queries in the catalog, and stop or drop them by name.

A record is written when a job starts and when it ends, never between.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from sqlext.dialect.ast.statements import StopJob
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.query import JobLog, Query
from sqlext.jobs.query_files import QUERIES, parts_of_checkpoint, query_folder
from sqlext.jobs.result import Result
from sqlext.jobs.versions import refuse_while_deployed, version_location
from sqlext.locations import PathOrText, for_spark
from sqlext.session.state import SessionState
from sqlext.stores.location import Location, StoreSettings
from sqlext_catalog import ddl
from sqlext_catalog.ddl.queries import JOB, job_of, with_dead_letters, with_inputs
from sqlext_catalog.model import QueryRecord
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.snapshot import Change, ChangeFunction, Snapshot


class QueryRecords(JobLog):
    """The records of one job's queries.

    Args:
        records: of its parts, not yet written.
    """

    def __init__(self, catalog: SessionCatalog, job: str, records: Sequence[QueryRecord]) -> None:
        self._catalog = catalog
        self._job = job
        self._records = records
        self._began: int | None = None

    def started(self) -> None:
        """Write that its queries run, in one commit."""
        self._began = now = int(time.time() * 1000)
        records = [replace(r, status="running", started=now, details=((JOB, self._job),)) for r in self._records]
        if records:
            self._catalog.apply(together([ddl.record_query(r) for r in records]), f"START QUERY {self._job}")

    def ended(self, query: Query) -> None:
        """Write how its queries ended, in one commit: from the job's thread, so through a store of its own."""
        progress = query.progress
        parts = progress.get("parts", {query.parts[0]: progress})
        updates = [ddl.update_query(r.name, self._unless_taken_over(_ended(parts[r.name]))) for r in self._records]
        if updates:
            self._catalog.another_store().commit(together(updates), f"END QUERY {self._job}")

    def _unless_taken_over(self, update: Callable[[QueryRecord], QueryRecord]) -> Callable[[QueryRecord], QueryRecord]:
        """Leave a record alone that another driver has begun since: it says how the query does there."""
        return lambda record: update(record) if self._began in (None, record.started) else record


def drop_query(state: SessionState, name: str, *, if_exists: bool) -> None:
    """Forget a query, or all queries of the job of that name, and remove their state.

    Raises:
        SqlExtError: CAT-002 there is none, RUN-022 it runs, RUN-087 it is being deployed.
    """
    records = job_records(state.catalog, name)
    with ExitStack() as held:
        # The locks come first: a query that runs elsewhere is refused before the catalog has changed.
        homes = [held.enter_context(_home(state, r)) for r in records]
        for home in homes:
            refuse_while_deployed(home.folder, home.name)
        state.catalog.apply(ddl.drop_query(name, if_exists=if_exists), f"DROP QUERY {name}")
        for home in homes:
            home.remove()


def stop_job(statement: StopJob, running: Sequence[Query], catalog: SessionCatalog) -> Result:
    """Stop a job; WITH SAVEPOINT gives the checkpoints from which the same statement goes on.

    Args:
        running: the queries of the session.

    Raises:
        SqlExtError: CAT-002 there is none of that name, RUN-025 it is none of this session's.
    """
    name = statement.job
    found = next((q for q in running if name in (q.name, *q.parts)), None)
    if found is None:
        raise _not_running(statement, running, catalog)
    found.stop()
    if not statement.savepoint:
        return Result()
    return Result(("savepoint path",), [(q.checkpoint,) for q in job_records(catalog, name)])


def written_tables(catalog: SessionCatalog) -> frozenset[str]:
    """Return the tables that queries of a catalog write, or have written."""
    return frozenset(record.writes for record in catalog.snapshot().queries() if record.writes is not None)


def job_records(catalog: SessionCatalog, name: str) -> list[QueryRecord]:
    """Return the records of a job's queries, by the name of the job or of one of its queries."""
    return [q for q in catalog.snapshot().queries() if name in (q.name, job_of(q))]


def home_location(folder: PathOrText, record: QueryRecord, stores: StoreSettings) -> Location:
    """Return the folder of the version that a record is of; nothing is read.

    Args:
        folder: the catalog's, or its URL.
        stores: Spark's settings of object stores.
    """
    _, version = parts_of_checkpoint(record.checkpoint, record.name)
    return version_location(folder_of(folder, record, stores), version)


def folder_of(folder: PathOrText, record: QueryRecord, stores: StoreSettings) -> Location:
    """Return the folder of a query, below which its versions lie; arguments as of ``home_location``."""
    return query_folder(folder, record.name, _elsewhere(folder, record), stores)


def _not_running(statement: StopJob, running: Sequence[Query], catalog: SessionCatalog) -> SqlExtError:
    name = statement.job
    if job_records(catalog, name):
        message = f"job `{name}` does not run in this session"
        return SqlExtError("RUN-025", message, span=statement.job_span, hint="stop it where it was started")
    hint = did_you_mean(name, [q.name for q in running]) or "SHOW JOBS lists the jobs"
    return SqlExtError("CAT-002", f"there is no job `{name}`", span=statement.job_span, hint=hint)


def _home(state: SessionState, record: QueryRecord) -> QueryHome:
    return QueryHome(state.folder, record.name, _elsewhere(state.folder, record), settings=state.stores)


def _elsewhere(folder: PathOrText, record: QueryRecord) -> str | None:
    """Return where ``--checkpoint`` put a query's checkpoint, None if it lies in the catalog's folder."""
    place, _ = parts_of_checkpoint(record.checkpoint, record.name)
    return None if place == f"{for_spark(os.fspath(folder))}/{QUERIES}" else place


def _ended(progress: dict[str, Any]) -> Callable[[QueryRecord], QueryRecord]:
    def update(record: QueryRecord) -> QueryRecord:
        # None where no micro-batch has said one: the record keeps what it has.
        seen = progress["watermark"]
        ended = replace(record, status=progress["status"], watermark=record.watermark if seen is None else seen)
        ended = with_dead_letters(ended, progress["dead_letters"])
        return with_inputs(ended, progress["inputs"]) if progress["inputs"] else ended

    return update


def together(changes: Sequence[ChangeFunction]) -> ChangeFunction:
    """Return several changes as one, which is one commit."""

    def every(snapshot: Snapshot) -> list[Change]:
        return [change for each in changes for change in each(snapshot)]

    return every
