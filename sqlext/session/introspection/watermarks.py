"""Report the watermarks of queries: those of this session, and those with a record in the catalog.

SHOW WATERMARKS, EXPLAIN WHY, metrics and the page of a query use it; nothing needs Spark. A query of this process
reports what its time keeper knows now. For one of another process, its keeper's last file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError, did_you_mean
from sqlext.jobs.query_files import PROGRESS, TIME
from sqlext.jobs.timekeeping import read_report
from sqlext.session.records import home_location
from sqlext.sinks.live_rows import Row
from sqlext.source import Span
from sqlext.stores.location import Location, StoreSettings
from sqlext.watermarks.history import Sample, samples
from sqlext.watermarks.page import Page, QueryPart
from sqlext.watermarks.report import TimeReport
from sqlext.watermarks.texts import wall
from sqlext.watermarks.why import Asked, why
from sqlext_catalog.ddl.queries import job_of, with_dead_letters, with_inputs
from sqlext_catalog.snapshot import Put, Snapshot

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.session.state import SessionState

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


@dataclass(frozen=True, slots=True)
class _Known:
    """A query, the job that it is a part of, and how it went."""

    job: str
    asked: Asked
    samples: Callable[[], Sequence[Sample]]


class Watermarks:
    """The time of queries.

    Args:
        running: the queries of the session that run.
        catalog: has the records of others.
        state: the session's. Its zone is whose wall clock shows when something happened.
    """

    def __init__(self, running: Sequence[Query], state: SessionState) -> None:
        self._running = running
        self._state = state
        self._zone = state.settings.zone

    def rows(self, name: str | None = None, span: Span | None = None) -> list[Row]:
        """Return SHOW WATERMARKS: a row for each split of each input, of one query or job or of all that run.

        Event times are wall clocks of their rowtime, as its rows have them; ``idle since`` is one of the session.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        found = self._known() if name is None else self._found(name, span)
        return [row for k in found if name is not None or k.asked.status == "running" for row in self._rows(k.asked)]

    def why(self, name: str, span: Span | None = None) -> str:
        """Return EXPLAIN WHY of a query, or of all queries of a job.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        return "\n\n".join(why(k.asked, self._zone) for k in self._found(name, span))

    def page(self, name: str) -> Page:
        """Return the page of a query, or of all queries of a job.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        return Page(name, [QueryPart(k.asked, k.samples()) for k in self._found(name, None)], self._zone)

    def _found(self, name: str, span: Span | None) -> list[_Known]:
        known = list(self._known())
        found = [k for k in known if name in (k.job, k.asked.name)]
        if not found:
            names = [n for k in known for n in (k.job, k.asked.name)]
            hint = did_you_mean(name, names) or "SHOW QUERIES lists the queries"
            raise SqlExtError("CAT-002", f"there is no query `{name}`", span=span, hint=hint)
        return found

    def _known(self) -> Iterator[_Known]:
        """Yield queries: those of this session first."""
        # A query of this session has a record as well, which says less than its time keeper.
        mine = set()
        for query in self._running:
            for name in query.parts:
                mine.add(name)
                asked = Asked(name, "running", query.bounded, query.time_report(name))
                yield _Known(query.name, asked, partial(query.time_samples, name))
        for record in self._state.catalog.snapshot().queries():
            if record.name not in mine:  # of another process: its folder has what its time keeper wrote last
                home = home_location(self._state.folder, record, self._state.stores)
                report = read_report(home.below(TIME))
                asked = Asked(record.name, record.status, bounded=False, report=report, live=False)
                yield _Known(job_of(record), asked, partial(samples, home.below(PROGRESS)))

    def _rows(self, asked: Asked) -> Iterator[Row]:
        for known in asked.report.inputs if asked.report is not None else ():
            for split in known.splits:
                event_times = (_wall(time, known.zone) for time in (split.largest, known.watermark))
                idle_since = _wall(split.idle_since, self._zone)
                counted = (split.held, split.holds, split.rows)
                yield asked.name, known.name, split.name, *event_times, idle_since, *counted


def _wall(ms: int | None, zone: str) -> object:
    return None if ms is None else wall(ms, zone)


def timed(snapshot: Snapshot, folder: Path | str, stores: StoreSettings) -> Snapshot:
    """Return a snapshot of the catalog whose running queries say what their time keepers wrote last."""
    changes = []
    for record in snapshot.queries():
        if record.status != "running":
            continue
        home = home_location(folder, record, stores)
        report, sample, told = _last_report(home.below(TIME)), _last_sample(home.below(PROGRESS)), record
        if report is not None:
            watermark = record.watermark if report.watermark is None else report.watermark
            told = with_inputs(replace(record, watermark=watermark), report.rows())
        if sample is not None:
            told = with_dead_letters(told, sample.dead_letters)
        if told is not record:
            changes.append(Put(told))
    return snapshot.with_changes(changes) if changes else snapshot


def _last_sample(place: Location) -> Sample | None:
    try:
        return next(reversed(samples(place)), None)
    except SqlExtError:
        return None


def _last_report(place: Location) -> TimeReport | None:
    try:
        return read_report(place)
    except SqlExtError:  # of a store that does not answer: one query must not hide all others
        return None
