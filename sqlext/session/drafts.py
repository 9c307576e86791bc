"""Prepare INSERTs as queries: their names, scripts and fingerprints.

Nothing here needs Spark, so EXPLAIN can say what would happen to a checkpoint before anything starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sqlext.analysis.inserts.bound import FINAL_STATE, BoundInsert
from sqlext.analysis.inserts.changes import changes
from sqlext.analysis.inserts.fingerprint import Fingerprint, fingerprint
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.same_place import place_of
from sqlext.analysis.scans.tables import wanted_source
from sqlext.connectors.registry import connector_of
from sqlext.databricks import PlatformRules
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Decision, Starting, decide, hands_over, plan_runs
from sqlext.jobs.handover.ends import ReadTables, cannot_share
from sqlext.jobs.parts import Place
from sqlext.jobs.places import read_offsets
from sqlext.jobs.runs import QueryRun, begun_run
from sqlext.plan.grouping import ANY_TRIGGER
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.boundedness import is_bounded, refuse_endless_final_state
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.script.begun import (
    Begun,
    asked_readers,
    can_divide,
    can_hand_over,
    clock,
    heartbeats,
    kept_readers,
    kept_state,
    other_buckets,
    readers,
    state_buckets,
)
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.real_time import asked_for, require_real_time
from sqlext.rewrite.script.shared import SharedRead, shared_reads, tables_read, tables_written
from sqlext.rewrite.script.side_rows import fed_back, kept_bad
from sqlext.session.notices import foretold
from sqlext.session.state import SessionState
from sqlext.settings import ENGINE, Settings
from sqlext.source import SourceText
from sqlext.stores.location import StoreSettings
from sqlext.stores.opening import has_store
from sqlext_catalog.model import QueryRecord, keeping_query

#: Why state keeps its number of buckets.
_UNDIVIDED = "only that of operators of ours can be divided, each on the one before, and not for final-state"

#: Why a table keeps its reader.
_UNREAD = "its state, or its place, is not the same for both"


@dataclass
class RunOptions:
    """Options of one run of statements; times in milliseconds.

    ``at_once``: whether queries may be one batch; over Spark Connect nobody could count what one reads and writes.
    ``rules``: what the platform under the Spark session takes.
    ``spark_is_there``: whether a Spark session was given, or had started before.
    """

    script: str = "sql"
    checkpoint: str | None = None
    interval: int | None = None
    ordinals: dict[str, int] = field(default_factory=dict)
    at_once: bool = True
    rules: PlatformRules = field(default_factory=PlatformRules)
    spark_is_there: bool = False

    @property
    def endless(self) -> InputEnd:
        """How a query ends that has no end: not at all, or where it has caught up if the platform takes no other."""
        return InputEnd.NONE if self.rules.endless else InputEnd.CATCH_UP

    def numbered(self, name: str) -> str:
        """Return a query's name, with a number behind it from the second query of that name on."""
        self.ordinals[name] = ordinal = self.ordinals.get(name, 0) + 1
        return f"{name}.{ordinal}" if ordinal > 1 else name


@dataclass(frozen=True)
class Draft:
    """An INSERT on its way to a part of a job.

    Attributes:
        kept: what is asked otherwise, and stays as the query began: a line each.
    """

    name: str
    insert: BoundInsert
    script: SparkScript
    prints: Fingerprint
    kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobDraft:
    """The INSERTs of one statement on their way to a job.

    Attributes:
        end: how its input ends.
    """

    end: InputEnd
    drafts: tuple[Draft, ...]

    @property
    def streaming(self) -> bool:
        """Whether its queries keep places: one stream is enough, as a set ends as one job."""
        return any(draft.script.streaming for draft in self.drafts)

    def require_end(self, settings: Settings) -> None:
        """Refuse a sink that needs an end where there is none (SINK-008), and what no real-time mode has (OPT-041)."""
        ends, batch = self.end is not InputEnd.NONE, asked_for(settings)
        for draft in self.drafts:
            refuse_endless_final_state(draft.insert, ends)
            if batch is not None:
                require_real_time(draft.insert, draft.script, batch, ends=ends)


def _require_same(home: QueryHome, draft: Draft) -> None:
    """Refuse tables that are others than those that a query has read (RUN-075), or that cannot get another reader."""
    before, there = home.run(), read_offsets(home)
    hands = before is not None and hands_over(changes(before.fingerprint, draft.prints))
    for table in draft.script.streams:
        places = connector_of(table).table_places()
        if places is None:
            continue
        places.require_same(table, there, draft.name)
        if hands and not all(map(places.is_shared, there.offsets)):
            raise cannot_share(draft.name)


def reads_of(script: SparkScript) -> ReadTables:
    """Return the tables that a script reads as streams."""
    found = (connector_of(table).table_places() for table in script.streams)
    own = (*(s.view for s in script.sources if s.streaming and s.own), *(step.scan for step in script.read_by_arrow))
    return ReadTables([places for places in dict.fromkeys(found) if places is not None], own)


def script_name(source: SourceText) -> str:
    """Return the name that a script gives its queries."""
    return Path(source.name.strip("<>")).stem


def end_of(inserts: Sequence[BoundInsert], settings: Settings, endless: InputEnd = InputEnd.NONE) -> InputEnd:
    """Return how the input of a job ends.

    Args:
        endless: how one ends that has no end of its own.
    """
    if not all(is_bounded(i.plan) for i in inserts):
        return endless
    return InputEnd.FINISH if settings.get("sqlext.bounded") == "finish" else InputEnd.CATCH_UP


@dataclass(frozen=True)
class Drafts:
    """Makes drafts of the INSERTs of one job.

    Attributes:
        folder: the catalog's, or its URL.
        stores: Spark's settings of object stores.
        records: of the queries that the catalog knows.
    """

    folder: Path | str
    options: RunOptions
    settings: Settings
    env: Environment
    stores: StoreSettings
    records: Sequence[QueryRecord] = ()

    @classmethod
    def of(cls, state: SessionState, env: Environment, options: RunOptions) -> Drafts:
        """Return what makes drafts in a session."""
        known = state.catalog.snapshot().queries()
        return cls(state.folder, options, state.settings, env, state.stores, known)

    @property
    def checkpoint(self) -> str | None:
        """The folder or URL where checkpoints go, None for the catalog's folder."""
        return self.options.checkpoint or self.settings.checkpoint

    def job(self, inserts: Sequence[BoundInsert], *, local: bool = False) -> JobDraft:
        """Return the INSERTs as the queries of one job; their names are taken then.

        Args:
            local: whether it is for this process.

        Raises:
            Unsuited, Unread: where it is ``local``: why Spark must run it.
        """
        end, several = end_of(inserts, self.settings, self.options.endless), len(inserts) > 1
        return JobDraft(end, tuple(self._draft(insert, end, several=several, local=local) for insert in inserts))

    def looked_at(self, job: JobDraft) -> list[tuple[QueryHome, Decision]]:
        """Return the folder of each query of a job, and what would become of it if the job started now.

        Empty where none of them has a checkpoint.
        """
        if not job.streaming or not has_store(self.checkpoint or self.folder):
            return []
        homes = [QueryHome(self.folder, d.name, self.checkpoint, settings=self.stores, looks=True) for d in job.drafts]
        decisions = decide(
            self._starting(job, homes),
            restart_finished=job.end is InputEnd.FINISH,
            leaves_state=self.settings.leaves_state,
        )
        return list(zip(homes, decisions, strict=True))

    def runs(self, job: JobDraft, homes: Sequence[QueryHome]) -> list[QueryRun]:
        """Return the runs under which the queries of a job start in folders that are this driver's.

        Raises:
            SqlExtError: as ``plan_runs``.
        """
        # A job that only catches up always goes on; one that has ended begins anew.
        return plan_runs(
            self._starting(job, homes),
            restart_finished=job.end is InputEnd.FINISH,
            leaves_state=self.settings.leaves_state,
        )

    def _starting(self, job: JobDraft, homes: Sequence[QueryHome]) -> list[Starting]:
        """Return the queries of a job as what is decided on."""
        return [
            Starting(home, d.prints, partial(_require_same, home, d), partial(self._ran_here, home, job.end))
            for home, d in zip(homes, job.drafts, strict=True)
        ]

    def _ran_here(self, home: QueryHome, end: InputEnd) -> bool:
        """Whether the catalog remembers that a query has a place in its folder, and must go on from it."""
        record = next((r for r in self.records if r.name == home.name), None)
        if record is None or (end is InputEnd.FINISH and record.status == "finished"):
            return False  # one that has ended begins anew
        return record.checkpoint.startswith(f"{home.folder.for_spark}/")

    def foretold(self, inserts: Sequence[BoundInsert], *, local: bool = False) -> list[str | None]:
        """Return what would become of the checkpoint of each if they ran now; None of one that has none.

        Args:
            local: whether this process would run them.
        """
        job = self.job(inserts, local=local)
        decided = self.looked_at(job)
        if not decided:
            return [None] * len(job.drafts)
        return [
            foretold(decision) if draft.script.streaming else None
            for draft, (_, decision) in zip(job.drafts, decided, strict=True)
        ]

    def run_here(self, inserts: Sequence[BoundInsert]) -> bool:
        """Return whether this process runs queries without an end, if it can."""
        engine = self.settings.get(ENGINE)
        endless = end_of(inserts, self.settings, self.options.endless) is InputEnd.NONE
        return endless and (engine == "local" or (engine == "auto" and self.have_begun_here(inserts)))

    def have_begun_here(self, inserts: Sequence[BoundInsert]) -> bool:
        """Return whether queries without an end have begun in this process; their names are not taken."""
        end = end_of(inserts, self.settings, self.options.endless)
        if end is not InputEnd.NONE:
            return False
        looking = replace(self, options=replace(self.options, ordinals=dict(self.options.ordinals)))
        names = [looking.name_of(insert, several=len(inserts) > 1) for insert in inserts]
        begun = [looking.begun(name, end) for name in names]
        return all(found is not None and found.here for found in begun)

    def name_of(self, insert: BoundInsert, *, several: bool) -> str:
        """Return the name of a query, which is taken then."""
        # A materialized view has one query, however often a script lets it go on.
        return keeping_query(insert.table) or self.options.numbered(self._wanted(insert, several=several))

    def _draft(self, insert: BoundInsert, end: InputEnd, *, several: bool, local: bool) -> Draft:
        # Before the script is compiled: under its name the query finds the readers that it began with.
        name = self.name_of(insert, several=several)
        run, at_once = self._begun_run(name, end), self.options.at_once
        compiled = partial(insert_script, insert, self.env, end=end, at_once=at_once, local=local)
        script, kept = self._going_on(compiled, run, insert, end)
        if local:  # what queries share are the columns that they look at
            from sqlext.rewrite.arrow.in_process import compiled_script  # it needs Arrow, which few statements do

            script = compiled_script(script, self.env.zone).script
        begun = Begun.of(run.fingerprint) if run is not None else None
        return Draft(name, insert, script, self._prints(insert, script, end, begun), kept)

    def _prints(self, insert: BoundInsert, script: SparkScript, end: InputEnd, begun: Begun | None) -> Fingerprint:
        """Return the parts of an INSERT, and of what the compiler has chosen: no checkpoint bears another choice."""
        prints = fingerprint(insert, self.env.zone, self.env.mode, end.value)
        if begun is not None and not begun.says_trigger:
            # An older version began it, whose state does not say its trigger: it must keep that.
            prints = {name: part for name, part in prints.items() if not name.startswith(ANY_TRIGGER)}
        return {
            **prints,
            **readers(script),
            **heartbeats(script),
            **clock(script),
            **kept_bad(script),
            **fed_back(script),
            **state_buckets(script),
            **kept_state(script, insert.plan),
        }

    def _going_on(
        self, compiled: Callable[..., SparkScript], run: QueryRun | None, insert: BoundInsert, end: InputEnd
    ) -> tuple[SparkScript, tuple[str, ...]]:
        """Return the script of a query, and what is asked otherwise than it began, and stays.

        Args:
            run: that goes on; None if the query begins now.
        """
        if run is None:
            return compiled(begun=None), ()
        begun = Begun.of(run.fingerprint)
        script: SparkScript = compiled(begun=begun)
        asked = other_buckets(self.settings, begun)
        if asked is None or not state_buckets(script):
            return self._read_otherwise(script, compiled, run, insert, end)
        kept = self._kept_readers(script, compiled, "its state gets other buckets first")
        if can_divide(script, insert.plan) and insert.mode != FINAL_STATE:
            return compiled(begun=replace(begun, buckets=asked)), kept
        return script, (*kept, f"state stays in {begun.buckets} buckets: {_UNDIVIDED}")

    def _read_otherwise(
        self,
        script: SparkScript,
        compiled: Callable[..., SparkScript],
        run: QueryRun,
        insert: BoundInsert,
        end: InputEnd,
    ) -> tuple[SparkScript, tuple[str, ...]]:
        """Return the script of a query with the readers that somebody asks for, or say why they stay."""
        begun = Begun.of(run.fingerprint)
        asked = asked_readers(self.settings, begun, script.streams)
        if asked == begun:
            return script, ()
        try:
            other = compiled(begun=asked)
        except SqlExtError:  # the other reader cannot: then nothing else could be read either
            return script, ()
        found = changes(run.fingerprint, self._prints(insert, other, end, begun))
        # One that cannot go on for other reasons is deployed with the readers that the old version has.
        if hands_over(found) and can_hand_over(script, other, insert.plan):
            return other, ()
        return script, self._kept_readers(script, compiled, _UNREAD)

    def _kept_readers(self, script: SparkScript, compiled: Callable[..., SparkScript], why: str) -> tuple[str, ...]:
        """Return what is said of tables for which somebody asks for another reader, and which keep theirs."""
        if all(wanted_source(table, self.settings) == "auto" for table in script.streams):
            return ()
        try:
            return kept_readers(script, compiled(begun=None), why)
        except SqlExtError:  # the other reader cannot: then nothing else could be read either
            return ()

    def _wanted(self, insert: BoundInsert, *, several: bool) -> str:
        """Return the name of a query: that which it began with, also where its pipeline gets more or fewer sinks."""
        named, sink = self.settings.get("pipeline.name"), insert.table.name.name
        if not named:
            return f"{self.options.script}.{sink}"
        wanted, other = (f"{named}.{sink}", named) if several else (named, f"{named}.{sink}")
        names = {r.name for r in self.records if r.writes == insert.table.name.plain}
        return other if other in names and wanted not in names and other not in self.options.ordinals else wanted

    def begun(self, name: str, end: InputEnd) -> Begun | None:
        """Return what a query keeps that goes on, its readers for instance; None if it begins now."""
        run = self._begun_run(name, end)
        return Begun.of(run.fingerprint) if run is not None else None

    def _begun_run(self, name: str, end: InputEnd) -> QueryRun | None:
        run = begun_run(self.folder, name, self.checkpoint, self.stores)
        return None if run is None or (run.finished and end is InputEnd.FINISH) else run


def fed(drafts: Sequence[Draft]) -> list[bool]:
    """Return of each INSERT of a set whether it reads what one before it writes: that may not be there yet."""
    written: set[str] = set()
    found = []
    for draft in drafts:
        found.append(not written.isdisjoint(map(place_of, tables_read(draft.script))))
        written |= set(map(place_of, tables_written(draft.script, draft.insert)))
    return found


def shared_by(
    drafts: Sequence[Draft], places: Sequence[Place | None], scripts: Sequence[SparkScript]
) -> tuple[SharedRead, ...]:
    """Return the tables that queries of a job read together, of those that still have to be read.

    What has come to its end, or has written its batch, must not be computed once more with the others.

    Args:
        drafts, places: of its queries.
        scripts: theirs, as they are opened.
    """
    read = [
        replace(script, steps=()) if p is None or p.run.finished or p.home.last_batch() >= 0 else script
        for script, p in zip(scripts, places, strict=True)
    ]
    return shared_reads(read, [d.insert for d in drafts])
