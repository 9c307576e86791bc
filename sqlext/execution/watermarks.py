"""What is known of the time of queries: those that run in this session, and those that the catalog has records of.

SHOW WATERMARKS, EXPLAIN WHY, metrics and the page of a query ask here; nothing of it needs Spark. A query of this
process tells what its time keeper knows now, one of another process what its keeper wrote last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.catalog.changes import Put
from sqlext.catalog.ddl.queries import job_of, with_inputs
from sqlext.catalog.session_catalog import SessionCatalog
from sqlext.catalog.snapshot import Snapshot
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.execution.records import time_folder
from sqlext.execution.result import Row
from sqlext.execution.timekeeping import read_report
from sqlext.source import Span
from sqlext.watermarks.texts import wall
from sqlext.watermarks.why import Asked, why

if TYPE_CHECKING:
    from sqlext.execution.query import Query

#: Of SHOW WATERMARKS.
COLUMNS = (
    "query name",
    "input",
    "split",
    "largest event time",
    "watermark",
    "idle since",
    "held by alignment",
    "holds back",
    "rows",
)


class Watermarks:
    """The time of queries.

    Args:
        running: the queries of the session that run.
        catalog: has the records of others.
        folder: the catalog's.
        zone: whose wall clock shows when something happened.
    """

    def __init__(self, running: Sequence[Query], catalog: SessionCatalog, folder: Path, zone: str) -> None:
        self._running = running
        self._catalog = catalog
        self._folder = folder
        self._zone = zone

    def rows(self, name: str | None = None, span: Span | None = None) -> list[Row]:
        """Return SHOW WATERMARKS: a row for each split of each input, of one query or job or of all that run.

        Event times are wall clocks of their rowtime, as its rows have them; ``idle since`` is one of the session.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        found = self._all_running() if name is None else self.asked(name, span)
        return [row for asked in found for row in self._rows(asked)]

    def why(self, name: str, span: Span | None = None) -> str:
        """Return EXPLAIN WHY of a query, or of all queries of a job.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        return "\n\n".join(why(asked, self._zone) for asked in self.asked(name, span))

    def asked(self, name: str, span: Span | None = None) -> list[Asked]:
        """Return the query of a name, or those of the job of that name.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        known = list(self._known())
        found = [asked for job, asked in known if name in (job, asked.name)]
        if not found:
            names = [n for job, asked in known for n in (job, asked.name)]
            hint = did_you_mean(name, names) or "SHOW QUERIES lists the queries"
            raise SqlExtError("CAT-002", f"there is no query `{name}`", span=span, hint=hint)
        return found

    def _all_running(self) -> Iterator[Asked]:
        return (asked for _, asked in self._known() if asked.status == "running")

    def _known(self) -> Iterator[tuple[str, Asked]]:
        """Yield queries with the names of their jobs: those of this session first."""
        mine = set()
        for query in self._running:
            for name in query.parts:
                mine.add(name)
                yield query.name, Asked(name, "running", query.bounded, query.time_report(name))
        for record in self._catalog.snapshot().queries():
            if record.name not in mine:
                report = read_report(time_folder(self._folder, record))
                yield job_of(record), Asked(record.name, record.status, bounded=False, report=report, live=False)

    def _rows(self, asked: Asked) -> Iterator[Row]:
        for known in asked.report.inputs if asked.report is not None else ():
            for split in known.splits:
                event_times = (_wall(time, known.zone) for time in (split.largest, known.watermark))
                idle_since = _wall(split.idle_since, self._zone)
                counted = (split.held, split.holds, split.rows)
                yield asked.name, known.name, split.name, *event_times, idle_since, *counted


def _wall(ms: int | None, zone: str) -> object:
    return None if ms is None else wall(ms, zone)


def timed(snapshot: Snapshot, folder: Path) -> Snapshot:
    """Return a snapshot of the catalog whose running queries say what their time keepers wrote last."""
    changes = []
    for record in snapshot.queries():
        report = read_report(time_folder(folder, record)) if record.status == "running" else None
        if report is not None:
            watermark = record.watermark if report.watermark is None else report.watermark
            changes.append(Put(with_inputs(replace(record, watermark=watermark), report.rows())))
    return snapshot.with_changes(changes) if changes else snapshot
