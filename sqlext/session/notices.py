"""Warn before a query starts: of changes since its last run, and of state that nothing bounds.

A query goes on from its checkpoint although its declaration of time has changed, or leaves its state behind. Both are
said before the first row.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from sqlext.analysis.inserts.bound import APPEND, BoundInsert
from sqlext.analysis.inserts.changes import Change, ChangeKind, changes
from sqlext.analysis.inserts.fingerprint import AGGREGATES
from sqlext.connectors.registry import connector_of
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Decision, Verdict, rebuckets
from sqlext.jobs.runs import QueryRun
from sqlext.locations import absolute, is_remote, local_file
from sqlext.plan.nodes import PlanNode
from sqlext.plan.stateful import unbounded_states
from sqlext.spark.notices import Notice
from sqlext.watermarks.texts import moment
from sqlext_catalog.model import QueryRecord, Table

_MEANS = {
    ChangeKind.TIME: "the watermark goes on from where it is, and never back",
    ChangeKind.ABOVE: "state stays; this holds for what comes out from now on",
    ChangeKind.OWN: "it goes on from its place, with its state",
    ChangeKind.READER: "it goes on from its place, with its state",
    ChangeKind.BUCKETS: "its state is divided anew when it starts, and nothing of it is lost",
    ChangeKind.PANES: "windows that are open stay with their rows, those that are gone stay gone; this holds for panes"
    " from now on",
    ChangeKind.LATENESS: "a longer lateness holds for all windows: none is gone yet",
    ChangeKind.TRIGGER: "windows that are open stay with their rows; a trigger that is new counts from now on",
    ChangeKind.ROWS: "this holds for rows that are read from now on",
}


_CLOSED = (
    "a longer lateness holds for windows that end after {} (UTC); those that ended by then stay closed,"
    " and their rows are late"
)
_NEW_AGGREGATES = "state stays; an aggregate that is new counts rows from now on, also in windows that are open"


class ChangedTimeNotice(Notice):
    """A query goes on from a checkpoint that was made under another declaration of its time, or leaves its state."""


def tell_changes(queries: Iterable[tuple[QueryHome, QueryRun]]) -> tuple[str, ...]:
    """Warn of what is declared otherwise for queries that go on, before their runs begin; return the same texts."""
    told = []
    for home, run in queries:
        before = home.run()
        if before is not None and before.run_id == run.run_id:
            found = changes(before.fingerprint, run.fingerprint)
            # One line tells all: without the state it does not matter which kind each change is of.
            if run.renews(before) and not rebuckets(found):
                told.append(f"query `{home.name}` {leaves_text(found)}")
            else:
                texts = texts_of(found, run)
                told += [f"query `{home.name}` goes on from its checkpoint: {text}" for text in texts]
    for text in told:
        warnings.warn(text, ChangedTimeNotice, stacklevel=2)
    return tuple(told)


def tell_kept(kept: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Warn of what is asked otherwise, and stays as queries began; return the same texts.

    Args:
        kept: the name of each query, and what is said of it.
    """
    told = tuple(f"query `{name}` goes on from its checkpoint: {text}" for name, texts in kept for text in texts)
    for text in told:
        warnings.warn(text, ChangedTimeNotice, stacklevel=2)
    return told


class TakenOverNotice(Notice):
    """A query goes on from the place of a driver that has not given it free."""


def tell_takeovers(homes: Iterable[QueryHome]) -> tuple[str, ...]:
    """Warn of queries that are taken over from a driver that may still live; return the same texts."""
    told = [
        f"query `{home.name}` is taken over from {home.taken_from.owner or 'an unknown driver'}: if it still runs, it"
        " writes nothing more"
        for home in homes
        if home.taken_from is not None
    ]
    for text in told:
        warnings.warn(text, TakenOverNotice, stacklevel=2)
    return tuple(told)


def foretold(decision: Decision) -> str | None:
    """Return what would happen to a query's checkpoint if it were started now, in lines; None if there is none."""
    if decision.refusal is not None:
        return f"refused, {decision.refusal.code}: {decision.refusal.message}"
    if decision.verdict is Verdict.BEGINS:
        return None
    if decision.verdict is Verdict.BEGINS_ANEW:
        return "it came to its end, and begins anew"
    if decision.verdict is Verdict.WITHOUT_STATE:
        return f"it {leaves_text(decision.changes)}"
    return "\n".join(["it goes on from its checkpoint", *texts_of(decision.changes, decision.run)])


def leaves_text(found: Sequence[Change]) -> str:
    """Return what becomes of a query that leaves its state behind."""
    what = "; ".join(str(change) for change in found)
    return f"goes on from where it was without its state, open windows among it, and with a new watermark: {what}"


def texts_of(found: Sequence[Change], run: QueryRun | None) -> list[str]:
    """Return what changed, by what it means.

    Args:
        run: under which the query goes on.
    """
    means = dict(_MEANS)
    if run is not None and run.closed is not None:
        means[ChangeKind.LATENESS] = _CLOSED.format(moment(run.closed, "UTC"))
    if any(change.part == AGGREGATES for change in found):
        means[ChangeKind.ABOVE] = _NEW_AGGREGATES
    by_kind = {kind: [str(c) for c in found if c.kind is kind] for kind in means}
    return [f"{'; '.join(texts)}: {means[kind]}" for kind, texts in by_kind.items() if texts]


class SharedSessionNotice(Notice):
    """Statements work in the user's own Spark session: Spark gives no other."""


def tell_shared() -> None:
    """Warn that settings and views of ours are seen in the session that was given."""
    text = (
        "This Spark Connect cannot clone a session, so statements work in the session that was given:"
        " their settings and temporary views are seen there. `isolated=False` says that this is meant."
    )
    warnings.warn(text, SharedSessionNotice, stacklevel=2)


class CatchUpNotice(Notice):
    """A query without an end takes what is there and ends: the platform takes no endless one."""


def tell_catch_up(platform: str) -> str:
    """Warn that an endless query ends; return the same text."""
    text = f"{platform} takes no query without an end: this one takes what is there now, and ends"
    warnings.warn(text, CatchUpNotice, stacklevel=2)
    return text


class RepeatedRowsNotice(Notice):
    """A query begins anew, since it had ended or its checkpoint lies elsewhere, and its table has its rows."""


def tell_repeats(texts: Iterable[str | None]) -> tuple[str, ...]:
    """Warn of queries whose rows come a second time, before their runs begin; return the texts that there are."""
    told = tuple(text for text in texts if text is not None)
    for text in told:
        warnings.warn(text, RepeatedRowsNotice, stacklevel=2)
    return told


def moved(name: str, insert: BoundInsert, before: str | None) -> str | None:
    """Return what is said of a query that begins anew and appends, as its checkpoint before lies elsewhere."""
    if before is None or not _appends(insert):
        return None
    return (
        f"`{name}` begins anew, since its checkpoint lies at `{before}`: `{insert.table.name.name}` has the rows that"
        f" it wrote from there, and gets them again; with that checkpoint it goes on, DROP QUERY `{name}` forgets it"
    )


def repeated(name: str, insert: BoundInsert, before: QueryRun | None, unknown: bool) -> str | None:
    """Return what is said of a query that begins anew and appends to its own rows; None of any other.

    Without a run before, rows of a table that no query of the catalog writes may be those of another catalog's query.

    Args:
        before: its last run; one that has ended begins anew.
        unknown: whether no query of the catalog writes its table.
    """
    begins = unknown if before is None else before.finished
    if not (begins and _appends(insert)):
        return None
    table, found = insert.table.name.name, _rows_found(insert.table)
    if before is not None and found is not False:
        return f"`{table}` has the rows of the last run of `{name}`, and gets them again; {_CURES}"
    if before is None and found:
        return f"`{table}` has rows that no query of this catalog wrote: those of `{name}` come on top; {_CURES}"
    return None


def renamed(
    name: str, insert: BoundInsert, fingerprint: str, records: Iterable[QueryRecord], among: Container[str]
) -> str | None:
    """Return what is said of a query that begins and appends, and is one that the catalog knows by another name.

    Args:
        fingerprint: its digest.
        records: of the queries that the catalog knows.
        among: the names of the queries of its job.
    """
    if not _appends(insert):
        return None
    table = insert.table.name
    for record in records:
        same = record.writes == table.plain and record.fingerprint == fingerprint
        if same and record.name not in among:
            return (
                f"query `{name}` is the same as `{record.name}`, and begins anew: `{table.name}` gets its rows a second"
                f" time; SET 'pipeline.name' = '{record.name}' goes on there"
            )
    return None


def _appends(insert: BoundInsert) -> bool:
    """Whether rows come on top of those that are there."""
    appends = insert.mode == APPEND and not insert.overwrite
    return appends and connector_of(insert.table).keeps_rows(insert.table)


_CURES = "in batch mode INSERT OVERWRITE replaces them, SET 'sqlext.bounded' = 'catch-up' reads what is new"


def _rows_found(table: Table) -> bool | None:
    """Return whether a table's folder has files of rows; None if nobody has looked: it is none of this machine's."""
    place = absolute(table.option("path"))
    if not place or is_remote(place):
        return None
    folder = Path(local_file(place))
    # Logs and files that are being written have such names.
    return folder.is_dir() and any(not entry.name.startswith(("_", ".")) for entry in folder.iterdir())


class UnboundedStateWarning(Notice):
    """The state of a step grows as long as its query runs."""


def warn_of_unbounded_state(plans: Iterable[PlanNode]) -> None:
    """Warn of each step of some plans whose state nothing bounds, by the clause that asks for it."""
    for text in dict.fromkeys(state.unbounded for plan in plans for state in unbounded_states(plan)):
        message = f"{text}; SET 'sqlext.unbounded-state' = 'error' refuses such queries"
        warnings.warn(message, UnboundedStateWarning, stacklevel=2)
