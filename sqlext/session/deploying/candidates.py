"""Find the queries of a script that can be deployed, and refuse those that cannot. Starts no JVM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import Change, ChangeKind, changes
from sqlext.analysis.names.environment import Environment
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.jobs.runs import QueryRun
from sqlext.plan.timing import InputEnd
from sqlext.session.drafts import Draft, Drafts, RunOptions
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText, Span
from sqlext_catalog.model import ObjectName, QueryRecord, Table

_RUN_FIRST = "sqlext run does it; deploy takes a script of definitions and queries"


@dataclass(frozen=True)
class Deployable:
    """A query of a script that may be deployed.

    Attributes:
        statement: that it is of; a statement set has several.
        end: how its input ends.
    """

    statement: ast.Statement
    draft: Draft
    env: Environment
    end: InputEnd

    @property
    def table(self) -> str:
        """The name of the table that it writes."""
        return self.draft.insert.table.name.plain

    def changes_since(self, run: QueryRun) -> tuple[Change, ...]:
        """Return what differs from an older version; whether it is scheduled or endless is no difference."""
        found = changes(run.fingerprint, self.draft.prints)
        return tuple(change for change in found if change.kind is not ChangeKind.OWN)

    def refusal(self, why: str, hint: str) -> SqlExtError:
        """Return why it cannot be deployed."""
        message = f"query `{self.draft.name}` cannot be deployed: {why}"
        return SqlExtError("RUN-084", message, span=self.draft.insert.span, hint=hint)


def candidates_of(source: SourceText, state: SessionState, options: RunOptions) -> list[Deployable]:
    """Return the queries of a script.

    Args:
        state: gets the script's definitions; it should be a copy.

    Raises:
        SqlExtError: what is wrong with the script; RUN-084 for a statement that changes what is there.
    """
    collector = Collector(state, options=options, at_once=options.at_once)
    interpreter = Interpreter(state, collector)
    for statement in parse_script(source, state.settings.expressions, unparsed=True):
        interpreter.run(statement)
    return collector.found


@dataclass
class Collector(DryRun):
    """A dry run that keeps the queries that would start."""

    options: RunOptions = field(default_factory=RunOptions)
    found: list[Deployable] = field(default_factory=list)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        """Keep INSERTs as the queries that they would be."""
        super().insert(statement, inserts, env)
        state = self.state
        job = Drafts(state.folder, self.options, state.settings, env, state.stores).job(inserts)
        self.found += (Deployable(statement, draft, env, job.end) for draft in job.drafts)
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
    refusal = next(_refusals(candidate, found), None)
    if refusal is not None:
        raise candidate.refusal(*refusal)
    refuse_writers(candidate, records)


def refuse_readers(candidate: Deployable, records: Sequence[QueryRecord]) -> None:
    """Refuse to replace the rows of a table that another query reads as a stream (RUN-084)."""
    for record in _others(candidate, records):
        if candidate.table in record.reads and record.status != "finished":  # one that begins anew reads all again
            why = f"query `{record.name}` reads the table as a stream, and would meet rows that are replaced"
            raise candidate.refusal(why, f"DROP QUERY `{record.name}`; after the deployment it can begin anew")


def refuse_writers(candidate: Deployable, records: Sequence[QueryRecord]) -> None:
    """Refuse a table that another query writes: its rows would be lost (RUN-084)."""
    for record in _others(candidate, records):
        if record.writes == candidate.table:
            why = f"query `{record.name}` writes rows into the same table, which would be lost"
            raise candidate.refusal(why, f"DROP QUERY `{record.name}`, if it is gone for good")


def _refusals(candidate: Deployable, found: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """Yield why and what to do."""
    draft, table = candidate.draft, candidate.draft.insert.table
    script = draft.script
    if not connector_of(table).replacement:
        why = f"the rows of `{table.name.name}` ({connector_of(table).owner}) cannot be replaced in one step"
        yield why, "deploy writes tables of connector 'delta'; another 'pipeline.name' and sink leave the old one alone"
    if candidate.end is InputEnd.FINISH:
        hint = "SET 'sqlext.bounded' = 'catch-up' keeps its place; else run it: it begins anew"
        yield "it comes to its end and keeps no place to compare at", hint
    if not script.streaming or script.at_once:
        yield "it reads no stream, and so keeps no place to compare at", "run it: it reads everything again"
    if draft.insert.overwrite:
        yield "each micro-batch replaces the rows of the one before", "run it: its rows are new anyhow"
    if script.sides:
        names = " and ".join(f"`{side.table.name.name}`" for side in script.sides)
        yield f"rows beside its own go to {names}, which cannot be replaced with it", "deploy it without, then add it"
    if script.ticks == "clock":
        yield "its rows depend on when it runs, so the two cannot be compared", "DROP QUERY starts it anew"
    for source in script.sources:
        if connector_of(source.table).gives_once:
            yield f"the rows of `{source.table.name.name}` come once", "another 'pipeline.name' reads what comes now"
    places = "; ".join(str(change) for change in found if change.kind is ChangeKind.PLACE)
    if places:
        hint = "another 'pipeline.name' and another table leave the old one alone"
        yield f"the two versions do not read the same sources: {places}", hint


def _others(candidate: Deployable, records: Sequence[QueryRecord]) -> list[QueryRecord]:
    return [record for record in records if record.name != candidate.draft.name]
