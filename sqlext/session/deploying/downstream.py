"""Find the queries that read what a deployment replaces, and say how each of them goes on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.jobs.runs import QueryRun
from sqlext.rewrite.compiler.boundedness import streaming_scans
from sqlext.session.deploying.candidates import Deployable, candidates_of, refusals
from sqlext.session.drafts import RunOptions
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext_catalog.model import QueryRecord, Table

#: It reads on; it gets a version of its own with the deployment, or has one; it can neither.
GOES_ON, RENEWED, DEPLOYED, REFUSED = "goes on", "is renewed", "is deployed too", "cannot be renewed"
#: What a query does that was dropped since the rows of its table are replaced.
BEGINS_AGAIN = "run it again behind it: it reads all rows anew, so empty its own table where it only adds rows"
_NOT_TOLD, _TOGETHER = "its record in the catalog does not tell all of it", "deploy both as one script"
#: Options of a table that begin within it: the new rows have no such versions.
_STARTS = ("startingVersion", "startingTimestamp")


@dataclass(frozen=True, slots=True)
class Reader:
    """What becomes of a query that reads a table as a stream, where the rows of that table are replaced.

    Attributes:
        outcome: one of the words above.
        why: it goes on, or cannot be renewed.
    """

    name: str
    outcome: str
    why: str = ""

    def __str__(self) -> str:
        """Return it for people."""
        why = f": {self.why}" if self.why else ""
        ways = f"; DROP QUERY `{self.name}` before, {BEGINS_AGAIN}" if self.outcome == REFUSED else ""
        return f"query {self.name} reads the table as a stream, and {self.outcome}{why}{ways}"


@dataclass(frozen=True)
class Downstream:
    """Finds the queries that read tables of a deployment, in its script and in the catalog.

    Attributes:
        statements: those of the deployment.
        before: the session's state, without what they define.
        after: the same with it.
        records: of the queries that the catalog knows.
        run_of: returns the current run of a query, by its name.
    """

    statements: Sequence[ast.Statement]
    before: SessionState
    after: SessionState
    options: RunOptions
    records: Sequence[QueryRecord]
    run_of: Callable[[str], QueryRun | None]
    redefines: bool = False
    _found: dict[str, Deployable | None] = field(default_factory=dict, compare=False, repr=False)

    def behind(self, candidates: Sequence[Deployable]) -> list[Deployable]:
        """Return the queries of other scripts that read what queries write, and those that read what these write."""
        known = {c.name for c in candidates}
        found = list(candidates)
        for candidate in found:
            for record in self._readers_of(candidate.table):
                if record.name in known:
                    continue
                known.add(record.name)
                reader = self._recorded(record)
                if reader is not None:
                    found.append(reader)
        return found[len(candidates) :]

    def readers(self, candidate: Deployable, known: Sequence[Deployable]) -> Iterator[Reader]:
        """Yield what becomes of the queries that read the table of a query, if its rows are replaced.

        Args:
            known: all queries of the deployment.
        """
        by_name = {c.name: c for c in known}
        for record in self._readers_of(candidate.table):
            reader = by_name.get(record.name)
            run = self.run_of(record.name)
            if reader is None or run is None:
                yield Reader(record.name, REFUSED, f"{_NOT_TOLD}: {_TOGETHER}")
            elif candidate.table in reader.reads:
                yield self.reader(reader, [candidate.table], run)

    def reader(self, candidate: Deployable, tables: Sequence[str], run: QueryRun) -> Reader:
        """Return what becomes of a query, if the rows of tables that it reads are replaced.

        Args:
            run: its current one.
        """
        found = candidate.changes_since(run)
        if found and self._is_recorded(candidate):
            differs = "; ".join(map(str, found))
            return Reader(candidate.name, REFUSED, f"{_NOT_TOLD} ({differs}): {_TOGETHER}")
        if found:
            return Reader(candidate.name, DEPLOYED)
        goes_on = _goes_on(candidate, tables)
        if goes_on is not None:
            return Reader(candidate.name, GOES_ON, goes_on)
        why = next(_reasons(candidate, tables, run), None)
        return Reader(candidate.name, RENEWED) if why is None else Reader(candidate.name, REFUSED, why)

    def _is_recorded(self, candidate: Deployable) -> bool:
        return self._found.get(candidate.name) is candidate

    def refuse_readers(self, candidate: Deployable, back: Collection[str]) -> None:
        """Refuse to bring back the rows of a table that another query reads as a stream (RUN-084).

        Args:
            back: the queries that go back with it.
        """
        for record in self._readers_of(candidate.table):
            reader = self._recorded(record)
            if record.name in back or (reader is not None and _goes_on(reader, [candidate.table]) is not None):
                continue
            why = f"query `{record.name}` reads the table as a stream, and would meet rows that are replaced"
            raise candidate.refusal(why, f"DROP QUERY `{record.name}` before; {BEGINS_AGAIN}")

    def moved(self, candidate: Deployable, elsewhere: Mapping[str, str]) -> Deployable:
        """Return a query that reads the rows of tables elsewhere, and is the same otherwise.

        Args:
            elsewhere: the place of the rows of each table.
        """
        record = next((r for r in self.records if r.name == candidate.name), None)
        found = next((c for c in self._scripted(elsewhere) if c.name == candidate.name), None)
        if found is None:
            assert record is not None, "what is in no script is in the catalog"
            found = self._bound(record, elsewhere)
        assert found is not None
        draft = replace(found.draft, prints=candidate.draft.prints)
        return replace(candidate, draft=draft, env=found.env, follows=frozenset(elsewhere))

    def _readers_of(self, table: str) -> Iterator[QueryRecord]:
        """Yield the records of queries that read a table as a stream, and go on from where they are.

        One that came to its end begins anew. The record of a scheduled one says that it has ended, too.
        """
        for record in self.records:
            if table not in record.reads or record.writes == table:
                continue
            run = self.run_of(record.name)
            if not (run.finished if run is not None else record.status == "finished"):
                yield record

    def _scripted(self, elsewhere: Mapping[str, str]) -> list[Deployable]:
        options = replace(self.options, ordinals={})
        state = _fresh(self.before)
        return candidates_of(self.statements, state, options, redefines=self.redefines, elsewhere=elsewhere)

    def _recorded(self, record: QueryRecord) -> Deployable | None:
        """Return a query as its record says it; None where that does not tell all of it."""
        if record.name not in self._found:
            self._found[record.name] = self._bound(record, {})
        return self._found[record.name]

    def _bound(self, record: QueryRecord, elsewhere: Mapping[str, str]) -> Deployable | None:
        state = _fresh(self.after)
        try:
            statements = list(parse_script(SourceText.of(record.statement), state.settings.expressions))
            for named in _names(record):
                # One that reads on keeps its place; where it was to come to its end that is told as a difference.
                state.settings = state.settings.with_value("sqlext.bounded", "catch-up")
                state.settings = state.settings.with_value("pipeline.name", named)
                options = replace(self.options, ordinals={})
                found = candidates_of(statements, _fresh(state), options, elsewhere=elsewhere)
                for candidate in found:
                    if (candidate.name, candidate.table) == (record.name, record.writes):
                        return replace(candidate, stored=self._table(record.writes))
        except SqlExtError:
            return None
        return None

    def _table(self, name: str | None) -> Table | None:
        relations = self.before.catalog.snapshot().relations()
        return next((r for r in relations if isinstance(r, Table) and r.name.plain == name), None)


def _goes_on(candidate: Deployable, tables: Sequence[str]) -> str | None:
    """Return why a query can read past the commit that replaces the rows of tables, None where it cannot."""
    read = _read(candidate, tables)
    if all(_passes_over(table) for table in read):
        return "'skipChangeCommits' passes over the commit"
    if all(connector_of(table).changelog(table) for table in read):
        return "it reads the changes, and the commit has those of all rows"
    return None


def _reasons(candidate: Deployable, tables: Sequence[str], run: QueryRun) -> Iterator[str]:
    if run.finished:
        yield "it came to its end"
    for table in _read(candidate, tables):
        for option in _STARTS:
            if table.option(option) is not None:
                yield f"it begins within the table, by '{option}'"
    yield from (why for why, _ in refusals(candidate, ()))


def _read(candidate: Deployable, tables: Sequence[str]) -> list[Table]:
    scans = streaming_scans(candidate.draft.insert.plan)
    return [scan.table for scan in scans if scan.table.name.plain in tables]


def _passes_over(table: Table) -> bool:
    return (table.option("skipChangeCommits") or "").strip().lower() == "true"


def _names(record: QueryRecord) -> Iterator[str]:
    """Yield what the pipeline of a query may have been called: one of several sinks has the sink's name behind it."""
    yield record.name
    sink = (record.writes or "").rpartition(".")[2]
    if record.name.endswith(f".{sink}"):
        yield record.name.removesuffix(f".{sink}")


def _fresh(state: SessionState) -> SessionState:
    found = state.fork()
    found.created = set()
    return found
