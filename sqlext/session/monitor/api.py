"""Answer how queries go: the one object that the page asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError, did_you_mean
from sqlext.jobs.query_files import PROGRESS, TIME
from sqlext.jobs.recording import ask_to_stop
from sqlext.jobs.timekeeping import read_state
from sqlext.policy import OPEN, Policy
from sqlext.session.introspection.seen import lateness_of
from sqlext.session.materialized import own_place
from sqlext.session.monitor.graph import edges_of, nodes_of
from sqlext.session.monitor.last_rows import last_rows
from sqlext.session.monitor.series import lag, rate, series
from sqlext.session.monitor.sources import Observed, Sources
from sqlext.session.monitor.views import FailureView, InputView, LastRows, LatenessView, QueryCard, QueryView, Series
from sqlext.session.monitor.windows import windows_of
from sqlext.watermarks.advice.seen import SeenLateness
from sqlext.watermarks.fit import misfit
from sqlext.watermarks.history import Sample
from sqlext.watermarks.texts import duration
from sqlext.watermarks.why import Asked, why
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.session.state import SessionState

_NOTHING = Sample(0, None, {}, 0, 0, 0, 0, 0)


class Monitor:
    """Says how queries go: those of a session, and all that have a record in its catalog.

    It asks nothing of a running query but what is kept anyhow. Any thread may call it.

    Args:
        running: gives the queries of the session that run.
        state: the session's.
        clock: ms since 1970 UTC.
    """

    def __init__(
        self,
        running: Callable[[], Sequence[Query]],
        state: SessionState,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._running = running
        self._state = state
        self._clock = clock
        self._sources = Sources(state, clock)
        self._looking = threading.Lock()

    def queries(self) -> list[QueryCard]:
        """Return all queries in short: running ones first, then by name."""
        now = self._clock()
        cards = [self._card(found, now) for found in self._observed()]
        return sorted(cards, key=lambda card: (card.state != "running", card.name))

    def query(self, name: str) -> QueryView:
        """Return a query in full.

        Raises:
            SqlExtError: CAT-002 for one that nobody knows.
        """
        found, now = self._found(name), self._clock()
        report, steps = found.report, found.outline.steps if found.outline is not None else ()
        bounded = found.outline is not None and found.outline.bounded
        asked = Asked(name, found.state, bounded, report, live=found.here)
        zone = self._state.settings.zone
        runs = found.state == "running"
        return QueryView(
            self._card(found, now),
            report.inputs[0].zone if report is not None and report.inputs else "UTC",
            why(asked, zone),
            nodes_of(steps, _last(found)),
            edges_of(steps),
            [InputView(**row) for row in report.rows()] if report is not None else [],
            windows_of(report, found.samples, now) if report is not None and runs else [],
            report is not None and report.session,
        )

    def history(self, name: str, since: int = 0) -> Series:
        """Return how a query went in the last day.

        Args:
            since: ms since 1970 UTC; moments up to this one are left out.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        found = self._found(name)
        return series(found.samples, since, self._clock() if found.state == "running" else None)

    def lateness(self, name: str) -> list[LatenessView]:
        """Return how late the rows of each input of a query were, as its time keeper has counted them.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        return [_lateness(seen) for seen in self._seen(self._found(name)) if seen.whole.rows]

    def rows(self, name: str, most: int = 20) -> LastRows:
        """Return the last rows of the table that a query writes, the newest last.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows.
        """
        record = self._found(name).record
        if record is None or record.writes is None:
            return LastRows("", (), (), "it writes to no table")
        with self._looking:
            tables = [r for r in self._sources.snapshot().relations() if isinstance(r, Table)]
        table = next((t for t in tables if t.name.plain == record.writes), None)
        return last_rows(record.writes, table, most, self._policy_for(table))

    def stop(self, name: str) -> None:
        """Stop the job of a query; its place is kept. That of another process stops within seconds.

        Raises:
            SqlExtError: CAT-002 for a query that nobody knows, RUN-025 for one that does not run.
        """
        found = self._found(name)
        own = next((q for q in self._running() if name in q.parts), None)
        if own is not None:
            own.stop()
        elif found.state == "running" and found.place is not None:
            ask_to_stop(found.place.below(PROGRESS))
        else:
            raise SqlExtError("RUN-025", f"query `{name}` does not run", hint="SHOW JOBS lists the jobs")

    def _policy_for(self, table: Table | None) -> Policy:
        """Return the session's policy; rows that a materialized view keeps beside the catalog are the session's own."""
        is_own = table is not None and table.option("path") == own_place(self._state.folder, table.name)
        return OPEN if is_own else self._state.policy

    def _card(self, found: Observed, now: int) -> QueryCard:
        late = misfit(found.samples, now) if found.state == "running" else None
        warnings = ["; ".join([str(late), *_better(self._seen(found))])] if late is not None else []
        return _card(found, now, warnings)

    def _seen(self, found: Observed) -> Iterator[SeenLateness]:
        own = next((q for q in self._running() if found.name in q.parts), None)
        if own is not None:
            keeping = own.timekeeping.get(found.name)
            return lateness_of(found.name, keeping.written if keeping is not None else None)
        return lateness_of(found.name, read_state(found.place.below(TIME)) if found.place is not None else None)

    def _observed(self) -> list[Observed]:
        with self._looking:
            return list(self._sources.observed(self._running()))

    def _found(self, name: str) -> Observed:
        known = {found.name: found for found in self._observed()}
        if name not in known:
            hint = did_you_mean(name, known) or "SHOW QUERIES lists the queries"
            raise SqlExtError("CAT-002", f"there is no query `{name}`", hint=hint)
        return known[name]


def _better(seen: Iterable[SeenLateness]) -> Iterator[str]:
    """Yield which delay would have been enough for each input of which that is known."""
    for one in seen:
        enough = one.enough
        if one.whole.rows and enough > one.declared:
            share = 100 * one.whole.late(enough)[1] / one.whole.rows
            yield f"with {duration(enough)} at most {share:.2g}% of all rows of `{one.input}` would have been late"


def _lateness(seen: SeenLateness) -> LatenessView:
    delay, least, most = zip(*seen.curve(), strict=True)
    return LatenessView(seen.input, seen.declared, seen.whole.rows, delay, least, most, seen.summary())


def _last(found: Observed) -> Sample | None:
    return found.samples[-1] if found.samples else None


def _card(found: Observed, now: int, warnings: Sequence[str]) -> QueryCard:
    last, record, runs = _last(found), found.record, found.state == "running"
    bounded = found.outline is not None and found.outline.bounded
    said = last or _NOTHING
    watermark = said.watermark if last is not None or record is None else record.watermark
    return QueryCard(
        name=found.name,
        job=found.job,
        state=found.state,
        here=found.here,
        bounded=bounded,
        started=record.started if record is not None else None,
        at=last.at if last is not None else None,
        statement=record.statement if record is not None else "",
        reads=record.reads if record is not None else (),
        writes=record.writes if record is not None else None,
        failure=FailureView(**asdict(found.failure)) if found.failure is not None else None,
        watermark=watermark,
        lag=lag(watermark, now) if runs and not bounded else None,
        rate=rate(found.samples, now) if runs else 0.0,
        rows_in=said.rows_in,
        rows_out=said.rows_out,
        rows_late=said.rows_late,
        rows_dropped=said.rows_dropped,
        rows_bad=said.rows_bad,
        dead_letters=said.dead_letters,
        batch=said.batch,
        batch_ms=said.last_ms,
        state_rows=said.open,
        state_bytes=said.state_bytes,
        idle=[name for name, (_, activity) in said.inputs.items() if activity == "idle" and runs],
        held=[name for name, (_, activity) in said.inputs.items() if activity == "held" and runs],
        warnings=warnings,
    )
