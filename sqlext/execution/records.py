"""What the catalog remembers of started queries: written when a job starts and when it ends, never between."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlext.catalog import ddl
from sqlext.catalog.changes import Change, ChangeFunction
from sqlext.catalog.ddl.queries import JOB
from sqlext.catalog.model import QueryRecord
from sqlext.catalog.session_catalog import SessionCatalog
from sqlext.catalog.snapshot import Snapshot
from sqlext.catalog.store import CatalogStore
from sqlext.execution.checkpoint import QueryHome
from sqlext.execution.jobs import JobLog
from sqlext.execution.query import Query


class QueryRecords(JobLog):
    """The records of one job's queries.

    Args:
        records: of its parts, not yet written.
    """

    def __init__(self, catalog: SessionCatalog, folder: Path, job: str, records: Sequence[QueryRecord]) -> None:
        self._catalog = catalog
        self._folder = folder
        self._job = job
        self._records = records

    def started(self) -> None:
        """Write that its queries run, in one commit."""
        now = int(time.time() * 1000)
        records = [replace(r, status="running", started=now, details=((JOB, self._job),)) for r in self._records]
        if records:
            self._catalog.apply(_together([ddl.record_query(r) for r in records]), f"START QUERY {self._job}")

    def ended(self, query: Query) -> None:
        """Write how its queries ended, in one commit: from the job's thread, so through a store of its own."""
        progress = query.progress
        parts = progress.get("parts", {query.parts[0]: progress})
        updates = [ddl.update_query(r.name, _ended(parts[r.name])) for r in self._records]
        if updates:
            CatalogStore(self._folder).commit(_together(updates), f"END QUERY {self._job}")


def drop_query(catalog: SessionCatalog, folder: Path, name: str, *, if_exists: bool) -> None:
    """Forget a query, or all queries of the job of that name, and remove their state.

    Raises:
        SqlExtError: CAT-002 there is none, RUN-022 it runs.
    """
    records = [q for q in catalog.snapshot().queries() if name in (q.name, dict(q.details).get(JOB))]
    with ExitStack() as held:
        homes = [held.enter_context(QueryHome(folder, r.name, _elsewhere(folder, r))) for r in records]
        catalog.apply(ddl.drop_query(name, if_exists=if_exists), f"DROP QUERY {name}")
        for home in homes:
            home.remove()


def _elsewhere(folder: Path, record: QueryRecord) -> str | None:
    """Return where ``--checkpoint`` put a query's checkpoint, None if it lies in the catalog's folder."""
    if "://" in record.checkpoint:
        return record.checkpoint.rpartition("/")[0]
    place = Path(record.checkpoint).parent.parent
    return None if place == folder / "queries" else str(place)


def _ended(progress: dict[str, Any]) -> Callable[[QueryRecord], QueryRecord]:
    def update(record: QueryRecord) -> QueryRecord:
        seen = progress["watermark"]
        return replace(record, status=progress["status"], watermark=record.watermark if seen is None else seen)

    return update


def _together(changes: Sequence[ChangeFunction]) -> ChangeFunction:
    def every(snapshot: Snapshot) -> list[Change]:
        return [change for each in changes for change in each(snapshot)]

    return every
