"""Find the queries of a script that can be deployed, and refuse those that cannot. Starts no JVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import Change, ChangeKind, changes
from sqlext.analysis.inserts.fingerprint import HERE
from sqlext.analysis.names.environment import Environment
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.result import Result
from sqlext.jobs.runs import QueryRun
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.boundedness import streaming_scans
from sqlext.session.deploying.lateness import judges_rows
from sqlext.session.drafts import Draft, Drafts, RunOptions
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.offline.redefining import redefining
from sqlext.session.state import SessionState
from sqlext.source import Span
from sqlext_catalog import ddl
from sqlext_catalog.diff import diff
from sqlext_catalog.model import ObjectName, QueryRecord, Table

#: Parts of a query that say how its watermark moves.
_TIME = ("watermark", "rowtime", "pace of the watermark")
#: Options that say where the rows of a table lie.
_PLACES = ("connector", "path", "table-path", "table-name")
_KEEP = "--keep-rows (keep_rows=True) leaves the rows that are there, and fills the new version's state alone"
_RUN_FIRST = "sqlext run does it; deploy takes a script of definitions and queries"


@dataclass(frozen=True)
class Deployable:
    """A query of a script that may be deployed.

    Attributes:
        statement: that it is of; a statement set has several.
        end: how its input ends.
        stored: what the catalog says of its table before the script; None where it says nothing.
        keeps_rows: whether the rows that are there stay; then the new version has read what was there for its state
            alone.
        follows: the tables that it reads from new versions of the queries that write them.
    """

    statement: ast.Statement
    draft: Draft
    env: Environment
    end: InputEnd
    stored: Table | None = None
    keeps_rows: bool = False
    follows: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The query's."""
        return self.draft.name

    @property
    def reads(self) -> frozenset[str]:
        """The names of the tables that it reads as streams."""
        return frozenset(scan.table.name.plain for scan in streaming_scans(self.draft.insert.plan))

    @property
    def reads_alone(self) -> bool:
        """Whether it reads one table only."""
        return len(self.reads) == 1

    @property
    def table(self) -> str:
        """The name of the table that it writes."""
        return self.draft.insert.table.name.plain

    @property
    def redefines(self) -> bool:
        """Whether the script defines its table in another way than the catalog."""
        table = self.draft.insert.table
        return self.stored is not None and not table.temporary and bool(diff(self.stored, table))

    @property
    def moves(self) -> bool:
        """Whether its rows would lie elsewhere."""
        before, now = (dict(t.options) for t in (self.stored or self.draft.insert.table, self.draft.insert.table))
        return any(before.get(key) != now.get(key) for key in _PLACES)

    @property
    def fills_by_cuts(self) -> bool:
        """Whether its state must be filled as the old version has read: rows that came late by then are in none."""
        return self.keeps_rows and judges_rows(self.draft.insert.plan)

    def changes_since(self, run: QueryRun) -> tuple[Change, ...]:
        """Return what differs from an older version; whether it is scheduled or endless is no difference."""
        found = changes(run.fingerprint, self.draft.prints)
        return tuple(change for change in found if change.kind is not ChangeKind.OWN)

    def has_time_of(self, run: QueryRun) -> bool:
        """Whether its watermark goes by the same rule, and the same rows, as that of an older version."""
        return not self.follows and not any(change.part.startswith(_TIME) for change in self.changes_since(run))

    def require_read(self, old: QueryHome) -> None:
        """Refuse it where the version that is there has no place yet, or none of Spark's (RUN-084)."""
        run = old.run()
        if run is not None and HERE in run.fingerprint:
            why = "the version that is there runs without Spark, and Spark deploys"
            raise self.refusal(why, "SET 'pipeline.name' gives the new version a place of its own")
        if old.last_batch() >= 0:
            return
        if old.repeats_a_batch():
            why = "the version that is there was stopped within its first micro-batch, which its sink may have"
            raise self.refusal(why, "run it once more as it was, stop it, and then deploy")
        raise self.refusal("the version that is there has read nothing", "DROP QUERY starts it anew")

    def refusal(self, why: str, hint: str) -> SqlExtError:
        """Return why it cannot be deployed."""
        message = f"query `{self.draft.name}` cannot be deployed: {why}"
        return SqlExtError("RUN-084", message, span=self.draft.insert.span, hint=hint)


def candidates_of(
    statements: Iterable[ast.Statement],
    state: SessionState,
    options: RunOptions,
    *,
    redefines: bool = False,
    keeps_rows: bool = False,
    elsewhere: Mapping[str, str] | None = None,
) -> list[Deployable]:
    """Return the queries of statements. Materialized views may have other columns than in the catalog.

    Args:
        state: gets the definitions; it should be a copy.
        redefines: whether tables and views may differ too, as where a version of before comes back.
        keeps_rows: as of ``Deployable``.
        elsewhere: where queries read the rows of Delta tables from, by the table's name.

    Raises:
        SqlExtError: what is wrong with a statement; RUN-084 for one that changes what is there.
    """
    stored = {r.name.plain: r for r in state.catalog.snapshot().relations() if isinstance(r, Table)}
    collector = Collector(state, options=options, at_once=options.at_once, stored=stored)
    interpreter = Interpreter(state, collector)
    for statement in statements:
        redefined = redefining(statement, state, everything=redefines)
        with _lying(elsewhere or {}, state, redefined):
            interpreter.run(redefined)
    return [replace(found, keeps_rows=keeps_rows) for found in collector.found]


@contextmanager
def _lying(elsewhere: Mapping[str, str], state: SessionState, statement: ast.Statement) -> Iterator[None]:
    """Let the rows of tables lie elsewhere while a query is read; what defines a table says where they are."""
    makes = isinstance(statement, (ast.CreateTable, ast.CreateView))
    own = state.catalog.resolve(statement.name) if isinstance(statement, (ast.CreateTable, ast.CreateView)) else None
    tables = [
        r
        for r in state.catalog.snapshot().relations()
        if isinstance(r, Table) and r.name.plain in elsewhere and r.name != own
    ]
    if makes and getattr(statement, "query", None) is None:  # LIKE copies the place
        tables = []
    for table in tables:
        state.catalog.apply(ddl.create(_at(table, elsewhere[table.name.plain]), "replace"), f"DEPLOY {table.name}")
    yield
    for table in tables:
        state.catalog.apply(ddl.create(table, "replace"), f"DEPLOY {table.name}")


def _at(table: Table, place: str) -> Table:
    options = {key: value for key, value in table.options if key not in _PLACES}
    return replace(table, options=tuple({**options, "connector": "delta", "path": place}.items()))


@dataclass
class Collector(DryRun):
    """A dry run that keeps the queries that would start."""

    options: RunOptions = field(default_factory=RunOptions)
    stored: Mapping[str, Table] = field(default_factory=dict)
    found: list[Deployable] = field(default_factory=list)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Keep INSERTs as the queries that they would be."""
        super().insert(statement, inserts, env)
        job = Drafts.of(self.state, env, self.options).job(inserts)
        stored = [self.stored.get(draft.insert.table.name.plain) for draft in job.drafts]
        self.found += (Deployable(statement, d, env, job.end, s) for d, s in zip(job.drafts, stored, strict=True))
        return Result()

    def alter_stored(self, name: ObjectName, alteration: Alteration, span: Span) -> None:
        """Refuse ALTER TABLE of what lies there."""
        raise SqlExtError("RUN-084", f"a deployment does not alter `{name.plain}`", span=span, hint=_RUN_FIRST)

    def drop_query(self, statement: ast.Drop) -> Result:
        """Refuse DROP QUERY: then there is no version before."""
        message = f"a deployment does not drop query `{'.'.join(statement.name)}`"
        raise SqlExtError("RUN-084", message, span=statement.span, hint=_RUN_FIRST)

    def drop_kept(self, query: str, table: Table) -> None:
        """Refuse OR REPLACE and DROP of a materialized view: its old version goes with it."""
        message = f"a deployment does not drop query `{query}`"
        raise SqlExtError("RUN-084", message, hint="CREATE MATERIALIZED VIEW without OR REPLACE deploys its new query")


def require_deployable(candidate: Deployable, found: Sequence[Change], records: Sequence[QueryRecord]) -> None:
    """Refuse a query whose two versions cannot be compared, or not be exchanged in one step.

    Args:
        found: what differs between them.
        records: of the queries that the catalog knows.

    Raises:
        SqlExtError: RUN-084.
    """
    refusal = next(refusals(candidate, found), None)
    if refusal is not None:
        raise candidate.refusal(*refusal)
    if not candidate.keeps_rows:
        refuse_writers(candidate, records)


def readers_among(candidates: Sequence[Deployable], changed: Sequence[Deployable]) -> list[Deployable]:
    """Return the queries that read what others write, or read what those write, the first of which are changed."""
    found: list[Deployable] = []
    written = {c.table for c in changed}
    while more := [c for c in candidates if c.reads & (written - {c.table}) and not _is_in(c, found)]:
        found += more
        written |= {c.table for c in more}
    return found


def in_order(candidates: Sequence[Deployable]) -> list[Deployable]:
    """Return queries so that each stands behind those whose tables it reads."""
    ordered: list[Deployable] = []
    left = list(candidates)
    while left:
        written = {c.table for c in left}
        free = [c for c in left if not c.reads & (written - {c.table})] or left
        ordered += free
        left = [c for c in left if not _is_in(c, free)]
    return ordered


def _is_in(candidate: Deployable, found: Sequence[Deployable]) -> bool:
    return any(other is candidate for other in found)


def refuse_writers(candidate: Deployable, records: Sequence[QueryRecord]) -> None:
    """Refuse a table that another query writes: its rows would be lost (RUN-084)."""
    for record in _others(candidate, records):
        if record.writes == candidate.table:
            why = f"query `{record.name}` writes rows into the same table, which would be lost"
            raise candidate.refusal(why, f"DROP QUERY `{record.name}`, if it is gone for good")


def refusals(candidate: Deployable, found: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """Yield why a query cannot be deployed, and what to do.

    Args:
        found: what differs between its versions.
    """
    draft, table = candidate.draft, candidate.draft.insert.table
    script = draft.script
    if not (candidate.keeps_rows or connector_of(table).replacement):
        why = f"the rows of `{table.name.name}` ({connector_of(table).owner}) cannot be replaced in one step"
        yield why, _KEEP
    if candidate.keeps_rows and script.changelog:
        why = "it writes a changelog, and would take back rows that the version before never gave"
        yield why, "deploy it without --keep-rows (keep_rows=True), or into another table"
    if candidate.moves:
        yield f"the rows of `{table.name.name}` would lie elsewhere", "another 'pipeline.name' writes another table"
    if candidate.end is InputEnd.FINISH:
        hint = "SET 'sqlext.bounded' = 'catch-up' keeps its place; else run it: it begins anew"
        yield "it comes to its end and keeps no place to compare at", hint
    if not script.streaming or script.at_once:
        yield "it reads no stream, and so keeps no place to compare at", "run it: it reads everything again"
    if draft.insert.overwrite:
        yield "each micro-batch replaces the rows of the one before", "run it: its rows are new anyhow"
    if script.sides and not candidate.keeps_rows:
        names = " and ".join(f"`{side.table.name.name}`" for side in script.sides)
        yield f"rows beside its own go to {names}, which cannot be replaced with it", _KEEP
    if script.ticks == "clock":
        yield "its rows depend on when it runs, so the two cannot be compared", "DROP QUERY starts it anew"
    for source in script.sources:
        if connector_of(source.table).gives_once:
            yield f"the rows of `{source.table.name.name}` come once", "another 'pipeline.name' reads what comes now"
    places = "; ".join(str(change) for change in found if change.kind in (ChangeKind.PLACE, ChangeKind.READER))
    if places:
        hint = "another 'pipeline.name' and another table leave the old one alone"
        yield f"the two versions do not read the same sources: {places}", hint


def _others(candidate: Deployable, records: Sequence[QueryRecord]) -> list[QueryRecord]:
    return [record for record in records if record.name != candidate.draft.name]
