"""Decide what becomes of each query of a job when the job starts.

A start does what is decided here (``plan_runs``). EXPLAIN and ``sqlext plan`` say it, and change nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from sqlext.analysis.inserts.changes import Change, ChangeKind, changes, lengthened
from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.query_files import watermark_in
from sqlext.jobs.runs import QueryRun
from sqlext.jobs.versions import refuse_halfway
from sqlext.rewrite.script.begun import AT_ONCE


class Verdict(Enum):
    """What becomes of a query."""

    #: Nothing of it is there.
    BEGINS = "begins"
    #: Its last run came to its end, and the next one reads everything again.
    BEGINS_ANEW = "begins anew"
    #: From its checkpoint, with its state.
    GOES_ON = "goes on"
    #: From its place: its state is left behind.
    WITHOUT_STATE = "goes on without its state"
    #: It came to its end, and waits for the other queries of its job.
    ENDED = "has ended"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Starting:
    """A query that is to start.

    Attributes:
        fingerprint: of the query as it is now.
        sources: refuses sources that its place does not fit; asked of a query that goes on.
        ran_here: whether somebody knows that it has a place here; asked where there is none.
    """

    home: QueryHome
    fingerprint: Fingerprint
    sources: Callable[[], None] = lambda: None
    ran_here: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one query.

    Attributes:
        run: under which it goes on, or begins; None where it is refused.
        changes: what differs from the query that made its checkpoint, where it goes on.
        refusal: why it cannot start.
    """

    verdict: Verdict
    run: QueryRun | None = None
    changes: tuple[Change, ...] = ()
    refusal: SqlExtError | None = None

    @property
    def loses(self) -> bool:
        """Whether state is left behind."""
        return self.verdict is Verdict.WITHOUT_STATE


def decide(starting: Sequence[Starting], *, restart_finished: bool, leaves_state: bool = False) -> list[Decision]:
    """Return what becomes of the queries of a job; nothing has changed then.

    A job that was interrupted goes on as one: the queries of it that had ended rest. One that had ended as a whole
    begins again from fresh checkpoints if ``restart_finished``. One that its checkpoint does not fit any more goes on
    with a new one, counted as a renewal, if ``leaves_state``.
    """
    found = [_last_run(c.home) for c in starting]
    interrupted = [r.run_id for r in found if isinstance(r, QueryRun) and not r.finished]
    run_id = interrupted[0] if interrupted else uuid.uuid4().hex
    decisions = []
    for query, previous in zip(starting, found, strict=True):
        if isinstance(previous, SqlExtError):
            decisions.append(Decision(Verdict.REFUSED, refusal=previous))
        elif previous is not None and previous.finished and restart_finished and previous.run_id != run_id:
            decisions.append(Decision(Verdict.BEGINS_ANEW, QueryRun(run_id, query.fingerprint)))
        else:
            decisions.append(_decided(query, previous, run_id, leaves_state=leaves_state))
    return decisions


def plan_runs(starting: Sequence[Starting], *, restart_finished: bool, leaves_state: bool = False) -> list[QueryRun]:
    """Return the runs under which the queries of a job go on, or begin; nothing has begun yet.

    Raises:
        SqlExtError: RUN-020 ... RUN-027, RUN-075 for a query that cannot go on; nothing has changed then.
    """
    decisions = decide(starting, restart_finished=restart_finished, leaves_state=leaves_state)
    runs = [_allowed(decision) for decision in decisions]
    # Last: if a query of the job is refused, nothing may have changed.
    for query, decision in zip(starting, decisions, strict=True):
        if decision.verdict is Verdict.BEGINS_ANEW:
            query.home.clear()
    return runs


def rearranges(found: Iterable[Change]) -> bool:
    """Return whether sources of a checkpoint get other numbers: a scheduled query becomes endless, or back."""
    return any(change.kind is ChangeKind.OWN for change in found)


def hands_over(found: Iterable[Change]) -> bool:
    """Return whether other readers go on from the places of a checkpoint."""
    return any(change.kind is ChangeKind.READER for change in found)


def rebuckets(found: Iterable[Change]) -> bool:
    """Return whether state is cut into another number of buckets: then it goes along into a new checkpoint."""
    kinds = {change.kind for change in found}
    return ChangeKind.BUCKETS in kinds and not kinds & {ChangeKind.STATE, ChangeKind.PLACE}


def _last_run(home: QueryHome) -> QueryRun | SqlExtError | None:
    try:
        return home.run()
    except SqlExtError as error:
        return error


def _decided(query: Starting, previous: QueryRun | None, run_id: str, *, leaves_state: bool) -> Decision:
    home, prints = query.home, query.fingerprint
    goes_on = previous is not None and not previous.finished
    try:
        refuse_halfway(home.folder, home.name)
        leaves = home.check(previous, prints, leaves_state=leaves_state and goes_on)
        if previous is None and query.ran_here():
            raise home.gone()
        if goes_on:
            query.sources()
        found = tuple(changes(previous.fingerprint, prints)) if previous is not None else ()
        sources_move = rearranges(found) or hands_over(found) or (goes_on and rebuckets(found))
        if (leaves and AT_ONCE not in prints) or sources_move:
            home.require_noted_sources()
    except SqlExtError as error:
        return Decision(Verdict.REFUSED, refusal=error)
    if previous is None:
        return Decision(Verdict.BEGINS, QueryRun(run_id, prints))
    if leaves:
        renewed = replace(previous, fingerprint=prints, renewals=previous.renewals + 1, closed=None)
        return Decision(Verdict.WITHOUT_STATE, renewed, found)
    renewals = previous.renewals + (goes_on and rebuckets(found))
    run = replace(previous, fingerprint=prints, renewals=renewals, closed=_closed(home, previous, prints))
    return Decision(Verdict.GOES_ON if goes_on else Verdict.ENDED, run, found)


def _closed(home: QueryHome, previous: QueryRun, prints: Fingerprint) -> int | None:
    """Return up to where windows are closed for good (``QueryRun.closed``)."""
    lateness = lengthened(previous.fingerprint, prints)
    # The next micro-batch has not begun (RUN-026): windows that only it would have closed live on.
    watermark = watermark_in(home.location, home.last_batch()) if lateness is not None else 0
    if lateness is None or not watermark:
        return previous.closed
    closed = watermark - lateness
    return closed if previous.closed is None else max(closed, previous.closed)


def _allowed(decision: Decision) -> QueryRun:
    if decision.refusal is not None:
        raise decision.refusal
    assert decision.run is not None
    return decision.run
