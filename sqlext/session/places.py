"""Take the places of a job's queries, and say what their sinks and records need to know of them."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlext.analysis.inserts.bound import UPSERT
from sqlext.analysis.inserts.fingerprint import digest
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.parts import Place, Schedule
from sqlext.jobs.query import JobLog, Query
from sqlext.jobs.query_files import query_folder
from sqlext.jobs.runs import begun_run
from sqlext.plan.nodes import EXISTS, KIND
from sqlext.rewrite.compiler.boundedness import streaming_scans
from sqlext.rewrite.script.model import SparkScript
from sqlext.secrets import redact_text
from sqlext.session.drafts import Draft, Drafts, JobDraft
from sqlext.session.notices import moved, renamed, repeated, tell_repeats
from sqlext.session.records import written_tables
from sqlext.session.state import SessionState
from sqlext.settings import LOCAL_BYTES, SINK_ROWS, Settings
from sqlext.sinks.base import SinkContext
from sqlext.sinks.commit_notes import CommitNotes
from sqlext.sinks.few_rows import NOTHING, Few
from sqlext.stores.opening import has_store
from sqlext_catalog.model import QueryRecord
from sqlext_catalog.properties import to_properties


@dataclass(frozen=True)
class JobPlaces:
    """Where the queries of one job keep their places.

    Attributes:
        folder: the catalog's, or its URL.
        checkpoint: where checkpoints go, None for the catalog's folder.
    """

    folder: Path | str
    checkpoint: str | None
    state: SessionState

    def repeats(self, drafts: Sequence[Draft], schedule: Schedule) -> tuple[str, ...]:
        """Tell whose rows come a second time: before the folders forget the runs that have ended."""
        runs = [begun_run(self.folder, d.name, self.checkpoint, self.state.stores) for d in drafts]
        known = {record.name: record for record in self.state.catalog.snapshot().queries()}
        begun, names = [d for d, run in zip(drafts, runs, strict=True) if run is None], {d.name for d in drafts}
        elsewhere = tell_repeats(
            moved(d.name, d.insert, self._elsewhere(known.get(d.name))) for d in begun if d.script.streaming
        )
        again = tell_repeats(renamed(d.name, d.insert, digest(d.prints), known.values(), names) for d in begun)
        # A job that was interrupted goes on as one.
        goes_on = any(run is not None and not run.finished for run in runs)
        if again or goes_on or not (schedule.bounded and schedule.finish):
            return (*elsewhere, *again)
        written = written_tables(self.state.catalog)
        ended = tell_repeats(
            repeated(d.name, d.insert, run, d.script.streaming and d.insert.table.name.plain not in written)
            for d, run in zip(drafts, runs, strict=True)
        )
        return (*elsewhere, *ended)

    def _elsewhere(self, record: QueryRecord | None) -> str | None:
        """Return where the checkpoint of a query lies that the catalog knows, if its place is another one now."""
        if record is None or not has_store(self.checkpoint or self.folder):
            return None
        folder = query_folder(self.folder, record.name, self.checkpoint, self.state.stores)
        return None if record.checkpoint.startswith(f"{folder.for_spark}/") else record.checkpoint

    def taken(self, drafting: Drafts, made: JobDraft, held: ExitStack) -> list[Place | None]:
        """Return the places of a streaming job's queries, its own; none for a job without streams."""
        if not made.streaming:
            return [None] * len(made.drafts)
        # All places before any change: one query that another driver runs refuses the whole job.
        stores, force = self.state.stores, self.state.settings.takes_over
        open_home = partial(QueryHome, self.folder, checkpoint=self.checkpoint, settings=stores, force=force)
        homes = [held.enter_context(open_home(d.name)) for d in made.drafts]
        return [Place(home, run) for home, run in zip(homes, drafting.runs(made, homes), strict=True)]


def knowing_closed(drafts: Sequence[Draft], places: Sequence[Place | None]) -> tuple[Draft, ...]:
    """Return drafts whose operators know which windows are closed for good."""
    return tuple(
        replace(draft, script=replace(draft.script, closed=place.run.closed)) if place is not None else draft
        for draft, place in zip(drafts, places, strict=True)
    )


class Passing(JobLog):
    """The place of a SELECT, of which nothing stays: neither its home nor the folder that was made for it."""

    def __init__(self, home: QueryHome, folder: Path) -> None:
        self._home = home
        self._folder = folder

    def ended(self, query: Query) -> None:
        """Let both go."""
        self.remove()

    def remove(self) -> None:
        """Remove both."""
        self._home.remove()
        shutil.rmtree(self._folder, ignore_errors=True)


def sink_context(draft: Draft, place: Place | None, env: Environment) -> SinkContext:
    """Return what the sink of a query needs to know of it."""
    insert, script = draft.insert, draft.script
    return SinkContext(
        query=draft.name,
        checkpoint=place.run.checkpoint_id if place else uuid.uuid4().hex,
        mode="overwrite" if insert.overwrite else insert.mode,
        keys=insert.merge_keys if insert.mode == UPSERT else script.keys,
        exists=EXISTS if script.updating else None,
        kind=KIND if script.changelog else None,
        zone=env.zone,
        staging=place.home.staging if place else None,
        properties=tuple(to_properties(insert.table).items()),
        refusals=any(side.refused_of for side in script.sides),
        fence=place.home.fence if place else None,
        # What is one batch may be all there is: to keep it until its rows are counted would cost too much.
        few=NOTHING if script.at_once else few_of(env.settings),
        notes=_notes(place) if place else None,
    )


def _notes(place: Place) -> CommitNotes:
    """Return what a query has noted of its sinks."""
    # A query that has ended repeats nothing. Without Spark it has one batch, of which Spark's checkpoint knows nothing.
    done = max(place.home.last_batch(), 0 if place.run.finished else -1)
    return CommitNotes(place.home.location, done)


def few_of(settings: Settings) -> Few:
    """Return which micro-batches are written in the driver."""
    return Few(settings.whole(SINK_ROWS) or 0, settings.whole(LOCAL_BYTES) or 0)


def select_context(script: SparkScript, zone: str) -> SinkContext:
    """Return what who shows the rows of a SELECT needs to know of it."""
    exists, kind = EXISTS if script.updating else None, KIND if script.changelog else None
    return SinkContext("select", uuid.uuid4().hex, keys=script.keys, exists=exists, kind=kind, zone=zone)


def record_of(statement: ast.Statement, draft: Draft, place: Place) -> QueryRecord:
    """Return the catalog's record of a query that begins."""
    return QueryRecord(
        name=draft.name,
        # Records are read by SHOW and by other processes: no secret may stand in them.
        statement=redact_text(statement.span.text),
        reads=tuple(sorted({s.table.name.plain for s in streaming_scans(draft.insert.plan)})),
        writes=draft.insert.table.name.plain,
        checkpoint=place.home.checkpoint,
        fingerprint=digest(draft.prints),
        status="running",
    )
