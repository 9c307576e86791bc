"""Find the queries that write a table: what they compute, and what their micro-batches took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.inserts.binding import bind_insert
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.jobs.query_files import TIME
from sqlext.jobs.runs import run_from_json
from sqlext.jobs.taken.history import TableRead, query_history
from sqlext.jobs.taken.model import QueryHistory, TakenRows
from sqlext.jobs.timekeeping import read_report
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import Scan
from sqlext.rewrite.script.begun import Begun
from sqlext.secrets import HIDDEN
from sqlext.session.records import home_location
from sqlext.session.state import SessionState
from sqlext.settings import DEAD_LETTERS
from sqlext.source import SourceText
from sqlext.stores.location import Location
from sqlext.watermarks.report import TimeReport
from sqlext_catalog.model import QueryRecord, Table

_Bound = tuple[PlanNode, tuple[tuple[str, PlanColumn], ...]]


@dataclass(frozen=True)
class Writer:
    """A query that writes a table.

    Attributes:
        name: the query's.
        plan: what it writes.
        scans: the tables that it reads as streams.
        history: its micro-batches, with what they took of these.
        filled: which column of the table is filled by which one of the plan.
        report: what its time keeper knew last; None where none runs.
    """

    name: str
    plan: PlanNode
    scans: tuple[Scan, ...]
    history: QueryHistory
    filled: tuple[tuple[str, PlanColumn], ...]
    report: TimeReport | None = None

    def taken(self, scan: Scan) -> TakenRows:
        """Return which micro-batches took the rows of a table; of one that is no stream nothing is known."""
        views = [own.view for own in self.scans]
        return self.history.tables[views.index(scan.view)] if scan.view in views else TakenRows()


def writers_of(
    asked: ast.ExplainRow, records: Sequence[QueryRecord], table: Table, env: Environment, state: SessionState
) -> Iterator[Writer]:
    """Yield the queries that write a table.

    Args:
        asked: where they are asked for.
        records: what the catalog remembers of them.

    Raises:
        SqlExtError: DDL-043 where the text of one means nothing any more, or has hidden parts.
    """
    for text in dict.fromkeys(r.statement for r in records):
        bound = _bound(asked, text, table, env)
        # The queries of one statement have its whole text, in the order of its INSERTs.
        for number, record in enumerate(r for r in records if r.statement == text and bound):
            plan, filled = bound[number % len(bound)]
            yield _writer(record, plan, filled, state)


def _writer(
    record: QueryRecord, plan: PlanNode, filled: tuple[tuple[str, PlanColumn], ...], state: SessionState
) -> Writer:
    place = home_location(state.folder, record, state.stores)
    scans = tuple(n for n in walk(plan) if isinstance(n, Scan) and n.is_stream)
    history = query_history(place, record.started, [_read(scan) for scan in scans], at_once=_is_at_once(place))
    return Writer(record.name, plan, scans, history, filled, _report(place))


def _report(place: Location) -> TimeReport | None:
    try:
        return read_report(place.below(TIME))
    except (ValueError, KeyError, TypeError):  # of another version
        return None


def _is_at_once(place: Location) -> bool:
    """Whether Spark runs a query as one batch without state."""
    try:
        return Begun.of(run_from_json(place.json("run.json") or {}).fingerprint).at_once
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return False


def _read(scan: Scan) -> TableRead:
    connector = connector_of(scan.table)
    return TableRead(scan.table.name.name, connector.table_reader().reached if connector.decodes else None)


def _bound(asked: ast.ExplainRow, text: str, table: Table, env: Environment) -> list[_Bound]:
    """Return what a remembered statement writes into a table, and which columns that fills.

    Raises:
        SqlExtError: DDL-043 where the text means nothing any more, or has hidden parts.
    """
    reason, cause = "its text has secrets, which are not kept", None
    if HIDDEN not in text:
        try:
            return [
                found for each in parse_script(SourceText.of(text), env.mode) for found in _writes(each, table, env)
            ]
        except SqlExtError as error:
            reason, cause = f"it cannot be read any more: {error.code}: {error.message}", error
    message = f"the rows cannot be explained by the query that writes `{table.name.name}`: {reason}"
    hint = "start the query again, under the settings, views and functions that it had"
    raise SqlExtError("DDL-043", message, span=asked.name_span, hint=hint) from cause


def _writes(statement: ast.Statement, table: Table, env: Environment) -> Iterator[_Bound]:
    if isinstance(statement, ast.CreateTable) and statement.query is not None:
        plan = QueryBinder(env).bind_whole(statement.query)
        yield plan, tuple(zip((c.name for c in table.columns), plan.columns, strict=False))
    inserts = statement.inserts if isinstance(statement, ast.StatementSet) else (statement,)
    # A row that is explained has come out: what becomes of others is not asked.
    env = replace(env, settings=env.settings.without(DEAD_LETTERS))
    for insert in inserts:
        # ``USE`` may have chosen another database since: the record says which table it writes.
        if isinstance(insert, ast.Insert) and insert.name[-1] == table.name.name:
            bound = bind_insert(replace(insert, name=tuple(table.name)), env)
            pairs = ((a.target.name, a.source) for a in bound.assignments)
            yield bound.plan, tuple((name, c) for name, c in pairs if c is not None)
