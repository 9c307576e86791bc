"""Say what running a script would do to what is there. Starts no query, changes nothing, needs no JVM."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.fingerprint import digest
from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.connectors.places import ReadPlace
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Decision, Verdict
from sqlext.jobs.places import read_place
from sqlext.jobs.result import Result
from sqlext.jobs.runs import QueryRun, begun_run
from sqlext.plan.timing import InputEnd
from sqlext.secrets import redact_text
from sqlext.session.deploying.candidates import Deployable
from sqlext.session.deploying.downstream import Downstream, Reader
from sqlext.session.drafts import Draft, Drafts, JobDraft, RunOptions
from sqlext.session.interpreter import Interpreter
from sqlext.session.notices import leaves_text, renamed, repeated, texts_of
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.offline.pace import pace_of
from sqlext.session.offline.script_plan import (
    AT_ONCE,
    HELD_BACK,
    NOT_REACHED,
    QueryPlan,
    ReadPlan,
    Refusal,
    ScriptPlan,
    SinkPlan,
    TablePlan,
    Way,
)
from sqlext.session.offline.touched import touched_queries
from sqlext.session.offline.ways import ways_of
from sqlext.session.records import job_records, written_tables
from sqlext.session.state import SessionState
from sqlext.sinks.base import SinkContext
from sqlext.sinks.opening import foreseen, foreseen_change
from sqlext.source import SourceText, Span
from sqlext_catalog.diff import diff
from sqlext_catalog.model import ObjectName, Relation, Table

_CHANGES = "the script alters a table or drops a query: run these statements before"


def plan_source(
    source: SourceText,
    state: SessionState,
    options: RunOptions,
    *,
    lookup: SparkLookup | None = None,
    keeps: Callable[[], object] | None = None,
    running: Collection[str] = (),
) -> ScriptPlan:
    """Return what running a script would do.

    Args:
        state: gets the script's definitions; it should be a copy.
        options: as of a run.
        lookup: asks Spark for a table, None without Spark.
        keeps: refuses queries that need a checkpoint, where none can lie.
        running: the queries that run in this session.

    Raises:
        SqlExtError: what is wrong with the script, for which nothing of it would run.
    """
    before = _relations(state)
    records = state.catalog.snapshot().queries()
    stored = {name: relation for name, relation in before.items() if isinstance(relation, Table)}
    planner = Planner(
        state, lookup, keeps=keeps, at_once=options.at_once, options=options, running=frozenset(running), stored=stored
    )
    interpreter = Interpreter(state, planner)
    for statement in parse_script(source, state.settings.expressions, unparsed=True):
        planner.compiled.clear()
        interpreter.run(statement)
    tables = tuple(_table_plans(before, _relations(state), state.created, planner.altered))
    queries = tuple(planner.queries)
    return ScriptPlan(
        tables, queries, tuple(touched_queries(tables, queries, records)), tuple(planner.spoken), tuple(planner.deploys)
    )


@dataclass
class Planner(DryRun):
    """A dry run that also decides on the queries, as a start does.

    Attributes:
        queries: what becomes of each, in order.
        spoken: statements of Spark's own.
        deploys: statements that deploy a new version.
        coming: what statements have done to the columns of tables by then, by the table's name.
        altered: the same, in words.
        dropped: queries that are gone by then.
        written: tables that queries of the script will have written to, and by which.
        stored: the tables of the catalog before the script.
    """

    options: RunOptions = field(default_factory=RunOptions)
    running: frozenset[str] = frozenset()
    queries: list[QueryPlan] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    deploys: list[str] = field(default_factory=list)
    coming: dict[str, list[Alteration]] = field(default_factory=dict)
    altered: dict[str, list[str]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    written: dict[str, str] = field(default_factory=dict)
    stored: Mapping[str, Table] = field(default_factory=dict)

    def runs(self, query: str) -> bool:
        """Whether a query of this session runs."""
        return query in self.running

    def spark(self, statement: ast.Statement) -> Result:
        """Note a statement of Spark's own that is no query."""
        result = super().spark(statement)
        if not isinstance(statement, (ast.SelectStatement, ast.UnparsedQuery)):
            self.spoken.append(redact_text(statement.span.one_line))
        return result

    def alter_stored(self, name: ObjectName, alteration: Alteration, span: Span) -> None:
        """Note what ALTER TABLE does to columns: a sink has them by then."""
        coming = self.coming.setdefault(name.plain, [])
        self.altered.setdefault(name.plain, []).extend(foreseen_change(alteration, coming))
        coming.append(alteration)

    def deploy(self, statement: ast.Deploy) -> Result:
        """Note that versions are compared, of which nobody knows before how much differs."""
        self.deploys.append(redact_text(statement.span.one_line))
        beside = DryRun(self.state, self.lookup, at_once=self.at_once)
        return beside.deploy(statement)

    def drop_query(self, statement: ast.Drop) -> Result:
        """Note the queries that are gone by then."""
        self.dropped |= {record.name for record in job_records(self.state.catalog, ".".join(statement.name))}
        return super().drop_query(statement)

    def drop_kept(self, query: str, table: Table) -> None:
        """Note that the query of a materialized view is gone by then."""
        self.dropped.add(query)
        super().drop_kept(query, table)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Decide on INSERTs as a start does."""
        super().insert(statement, inserts, env)
        drafting = Drafts.of(self.state, env, self.options)
        job = drafting.job(inserts, local=drafting.run_here(inserts))
        job.require_end(self.state.settings)
        looked: Sequence[tuple[QueryHome | None, Decision | None]] = [
            (home, self._held(home, decision)) for home, decision in drafting.looked_at(job)
        ] or [(None, None)] * len(job.drafts)
        plans = [
            self._plan(drafting, statement, job, draft, home, decision)
            for draft, (home, decision) in zip(job.drafts, looked, strict=True)
        ]
        self.queries += _as_they_start(plans, stopped=any(q.refusal is not None for q in self.queries))
        self.written |= {d.insert.table.name.plain: d.name for d in job.drafts}
        return Result()

    def _held(self, home: QueryHome, decision: Decision) -> Decision:
        """Return what is decided, or that another driver has the query."""
        if home.name in self.dropped:
            return Decision(Verdict.BEGINS_ANEW)
        if self.state.settings.takes_over:
            return decision
        try:
            home.refuse_if_held()
        except SqlExtError as error:
            return Decision(Verdict.REFUSED, refusal=error)
        return decision

    def _plan(
        self,
        drafting: Drafts,
        statement: ast.Statement,
        job: JobDraft,
        draft: Draft,
        home: QueryHome | None,
        decision: Decision | None,
    ) -> QueryPlan:
        repeats = self._repeats(drafting, job, draft, decision)
        refusals = [decision.refusal] if decision is not None and decision.refusal is not None else []
        goes_on = decision is not None and decision.verdict in (Verdict.GOES_ON, Verdict.WITHOUT_STATE)
        place = read_place(home) if goes_on and home is not None else None
        # Of a query that its place does not fit nobody knows where it would begin.
        reads = tuple(self._reads(draft, place, refusals)) if not refusals else ()
        sink = self._sink(draft, refusals)
        changed = [error.code for error in refusals] == ["RUN-020"]
        outcome = AT_ONCE if decision is None else decision.verdict.value
        return QueryPlan(
            name=draft.name,
            line=draft.insert.span.source.position(draft.insert.span.start).line,
            outcome=Verdict.REFUSED.value if refusals else outcome,
            loses=bool(repeats) or (decision is not None and decision.loses),
            ends=job.end.value,
            sink=sink,
            reads=reads,
            notes=(*_told(decision), *(draft.kept if goes_on else ()), *repeats),
            refusal=Refusal.of(refusals[0]) if refusals else None,
            ways=tuple(self._ways(drafting, statement, job, draft, home)) if home is not None and changed else (),
            takes_ms=self._takes_ms(draft, home, reads) if place is not None and home is not None else None,
        )

    def _ways(
        self, drafting: Drafts, statement: ast.Statement, job: JobDraft, draft: Draft, home: QueryHome
    ) -> Iterator[Way]:
        """Yield the ways to deploy a query that has changed."""
        candidate = Deployable(statement, draft, drafting.env, job.end, self.stored.get(draft.insert.table.name.plain))
        whole = tuple(self._reads(draft, None, []))
        left = self._reads(draft, read_place(home), [])
        ms = pace_of(home).ms_for(whole, _without(whole, left))
        for way in ways_of(candidate, home, drafting.records, whole, ms, self._readers(candidate, drafting)):
            # A deployment takes no script that changes what is there.
            yield Way(way.name, refusal=_CHANGES) if self.coming or self.dropped else way

    def _readers(self, candidate: Deployable, drafting: Drafts) -> list[Reader]:
        """Return what becomes of the queries that read its table, if its rows are replaced."""
        rules = replace(self.options.rules, endless=False)
        options = replace(self.options, rules=rules, ordinals={})

        def run_of(name: str) -> QueryRun | None:
            stores = self.state.stores
            return QueryHome(self.state.folder, name, drafting.checkpoint, settings=stores, looks=True).run()

        downstream = Downstream((), self.state, self.state, options, drafting.records, run_of)
        return list(downstream.readers(candidate, downstream.behind([candidate])))

    def _takes_ms(self, draft: Draft, home: QueryHome, left: Sequence[ReadPlan]) -> int | None:
        """Return how long a query that goes on reads what is there."""
        return pace_of(home).ms_for(left, _without(tuple(self._reads(draft, None, [])), left))

    def _repeats(self, drafting: Drafts, job: JobDraft, draft: Draft, decision: Decision | None) -> tuple[str, ...]:
        """Return what is said of rows that come a second time."""
        before = begun_run(self.state.folder, draft.name, drafting.checkpoint, self.state.stores)
        if before is None:
            names = {d.name for d in job.drafts} | self.dropped
            again = renamed(draft.name, draft.insert, digest(draft.prints), drafting.records, names)
            if again is not None:
                return (again,)
        anew = decision is None or decision.verdict in (Verdict.BEGINS, Verdict.BEGINS_ANEW)
        if job.end is not InputEnd.FINISH or not anew or draft.name in self.dropped:
            return ()
        known = {*written_tables(self.state.catalog), *self.written}
        unknown = draft.script.streaming and draft.insert.table.name.plain not in known
        text = repeated(draft.name, draft.insert, before, unknown)
        return (text,) if text is not None else ()

    def _reads(self, draft: Draft, place: ReadPlace | None, refusals: list[SqlExtError]) -> Iterator[ReadPlan]:
        tables = {s.table.name.plain: s.table for s in draft.script.sources}
        tables.update({step.table.name.plain: step.table for step in draft.script.read_by_arrow})
        for name, table in tables.items():
            places = connector_of(table).table_places()
            if name in self.written:
                yield ReadPlan(name, f"with what `{self.written[name]}` writes before")
            elif name in self.coming:
                # Its log has the columns of before.
                yield ReadPlan(name, "how much is not known, since its columns are altered before")
            elif places is not None:
                try:
                    found = places.backlog(table, place)
                except SqlExtError as error:
                    refusals.append(error)
                else:
                    yield (
                        ReadPlan(name, "how much is not known")
                        if found is None
                        else ReadPlan(name, found.begins, found.files, found.bytes, found.rows)
                    )
            else:
                yield ReadPlan(name, "how much is not known")

    def _sink(self, draft: Draft, refusals: list[SqlExtError]) -> SinkPlan:
        insert = draft.insert
        table, name = insert.table, insert.table.name.plain
        context = SinkContext(draft.name, "", mode="overwrite" if insert.overwrite else insert.mode)
        coming = self.coming.get(name, ())
        try:
            found = foreseen(connector_of(table).write_spec(table), context, coming)
        except SqlExtError as error:
            refusals.append(error)
            return SinkPlan(name, "refused")
        if found.added:
            return SinkPlan(name, "columns added", found.added)
        if insert.overwrite:
            return SinkPlan(name, "rewritten")
        return SinkPlan(name, "created" if found.created else "the same" if found.known else "not known")


def _without(whole: Sequence[ReadPlan], left: Iterable[ReadPlan]) -> list[ReadPlan]:
    """Return what has been read: all that there is but for what is left."""
    return [
        replace(a, bytes=max(0, a.bytes - b.bytes) if a.bytes is not None and b.bytes is not None else None)
        for a, b in zip(whole, left, strict=False)
    ]


def _told(decision: Decision | None) -> tuple[str, ...]:
    """Return what is said of a query that goes on, apart from its outcome."""
    if decision is None or decision.refusal is not None:
        return ()
    if decision.loses:
        return (f"it {leaves_text(decision.changes)}",)
    return tuple(texts_of(decision.changes, decision.run)) if decision.verdict is Verdict.GOES_ON else ()


def _as_they_start(plans: Sequence[QueryPlan], *, stopped: bool) -> list[QueryPlan]:
    """Return the queries of a job: if one is refused, none starts; none starts behind a statement that fails."""
    failed = any(plan.refusal is not None for plan in plans)
    if not failed and not stopped:
        return list(plans)
    word = NOT_REACHED if stopped else HELD_BACK
    return [plan if plan.refusal is not None else replace(plan, outcome=word) for plan in plans]


def _relations(state: SessionState) -> Mapping[str, Relation]:
    return {r.name.plain: r for r in state.catalog.snapshot().relations()}


def _table_plans(
    before: Mapping[str, Relation],
    after: Mapping[str, Relation],
    spoken: Collection[str],
    altered: Mapping[str, Sequence[str]],
) -> Iterator[TablePlan]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        found = new or old
        assert found is not None
        kind = "table" if isinstance(found, Table) else "view"
        if old is None or new is None:
            yield TablePlan(name, kind, "created" if old is None else "dropped")
            continue
        differences = tuple(diff(old, new))
        if differences or name in spoken:
            yield TablePlan(
                name, kind, "altered" if differences else "the same", differences, tuple(altered.get(name, ()))
            )
