"""Answer EXPLAIN ROW: find the rows of a result, the queries that write them, and the input rows that they are made of.

Nothing is asked of Spark: tables are read as the local engine reads them, from their first row on.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from sqlext.analysis.inserts.binding import bind_insert
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.scans.tables import with_hints
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.ast.queries import Hint
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.jobs.taken_files import Taken, TakenFiles, taken_files
from sqlext.local.arrivals import shown
from sqlext.local.engine import computed
from sqlext.local.row_search import found_rows, window_of
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.lineage.origins import Origin, UntracedError, facts_of, origins
from sqlext.plan.lineage.tests import Within
from sqlext.plan.nodes import Scan
from sqlext.secrets import HIDDEN
from sqlext.session.introspection.advisor import OF_VIEW, in_utc, named_table
from sqlext.session.introspection.wanted import wanted_values
from sqlext.session.local_plans import NotLocalError, local_select
from sqlext.session.records import home_location
from sqlext.session.state import SessionState
from sqlext.settings import DEAD_LETTERS
from sqlext.source import SourceText
from sqlext.sources.values import rows_of_table
from sqlext.spark.notices import Notice
from sqlext.stores.location import Location
from sqlext.watermarks.texts import wall
from sqlext_catalog.model import QueryRecord, Table

COLUMNS = ("result", "query", "input", "place", "row", "batch", "watermark", "late", "values")
#: The code of a path at which nothing lies.
_NOT_THERE = "OPT-009"
_Bound = tuple[PlanNode, tuple[tuple[str, PlanColumn], ...]]
#: How many rows of a result are explained, and how many input rows of each are shown.
MOST_RESULTS, MOST_ROWS = 10, 1000


class RowNotice(Notice):
    """What the lines of EXPLAIN ROW do not say of themselves."""


@dataclass(frozen=True)
class Writer:
    """A query that writes a table.

    Attributes:
        name: the query's.
        plan: what it writes.
        taken: which micro-batches took which files of its input.
        filled: which column of the table is filled by which one of the plan.
    """

    name: str
    plan: PlanNode
    taken: TakenFiles
    filled: tuple[tuple[str, PlanColumn], ...]


def explained_rows(statement: ast.ExplainRow, rows: PlanNode, env: Environment, state: SessionState) -> Result:
    """Answer a statement: a line for each row of the result, and behind it one for each row that it was made of.

    Args:
        statement: the statement.
        rows: the plan of its rows.
        env: its surroundings.
        state: of the session, whose catalog knows the queries that were started.

    Raises:
        SqlExtError: NAME-002 for a table of Spark's, CAT-043 for one that no query of the catalog writes, DDL-043
            where rows cannot be traced.
    """
    table = named_table(statement.name, statement.name_span, env, OF_VIEW)
    records = [r for r in state.catalog.snapshot().queries() if r.writes == table.name.plain]
    if not records:
        raise SqlExtError(
            "CAT-043",
            f"no query of this catalog writes `{table.name.name}`",
            span=statement.name_span,
            hint="an INSERT INTO it is remembered from its start on, until DROP QUERY; SHOW QUERIES lists them",
        )
    writers = list(_writers(statement, records, table, env, state))
    with TemporaryDirectory(prefix="sqlext-") as folder:
        return _Explaining(statement, env, Location(folder)).answer(table, rows, writers)


@dataclass
class _Explaining:
    """One statement that is under way.

    Attributes:
        folder: for what readers remember.
        lines: the answer so far.
        notices: what is to be said besides.
    """

    statement: ast.ExplainRow
    env: Environment
    folder: Location
    lines: list[tuple[Any, ...]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _reads: int = 0

    def answer(self, table: Table, rows: PlanNode, writers: Sequence[Writer]) -> Result:
        """Return the result."""
        results = self._results(rows)
        names = results.column_names
        for number, row in enumerate(rows_of_table(results.slice(0, MOST_RESULTS)), 1):
            values = {name: results.column(name)[number - 1] for name in names}
            self._explain(number, table, _text(names, row), values, writers)
        if results.num_rows > MOST_RESULTS:
            self.notices.append(f"The first {MOST_RESULTS} of {results.num_rows:,} rows are explained.")
        if not results.num_rows:
            self._why_not(table, results.schema, writers)
        for text in self.notices:
            warnings.warn(text, RowNotice, stacklevel=2)
        return Result(COLUMNS, self.lines, notices=self.notices)

    def _explain(
        self, number: int | None, table: Table, shown: str, values: Mapping[str, Any], writers: Sequence[Writer]
    ) -> None:
        """Add the lines of a row of the result, which has these values."""
        self.lines.append((number, None, table.name.name, *[None] * 5, shown))
        before = len(self.lines)
        for writer in writers:
            # A column that a query does not fill is NULL in its rows.
            if any(value.is_valid for name, value in values.items() if name not in dict(writer.filled)):
                continue
            made_of = list(islice(self._made_of(writer, values), MOST_ROWS + 1))
            self.lines += ((number, writer.name, *line) for line in made_of[:MOST_ROWS])
            if len(made_of) > MOST_ROWS:
                self.notices.append(f"There are more than {MOST_ROWS:,} input rows: the first ones are shown.")
            if not all(origin.exact for origin in self._origins(writer, values)):
                self._say(
                    f"More rows than those of the result may be named for query `{writer.name}`: it does not hold all"
                    " keys, or a frame by rows or a match takes a part of them."
                )
        if number is not None and len(self.lines) == before:
            self._say(
                f"No input row of result {number} is found: its input was rewritten or removed since, a window without"
                " rows was filled, or the settings, views and functions of its query are others now."
            )

    def _say(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    def _why_not(self, table: Table, schema: pa.Schema, writers: Sequence[Writer]) -> None:
        """Say why there is no row as it is asked for: add the input rows that it would be made of."""
        self.notices.append(f"No row of `{table.name.name}` is so.")
        values = wanted_values(self.statement.where, schema, self.env.zone)
        if not values:
            return
        (shown,) = rows_of_table(pa.table({name: pa.array([v.as_py()], v.type) for name, v in values.items()}))
        self._explain(None, table, _text(list(values), shown), values, writers)
        judged = [late for _, query, *_, late, _ in self.lines if query is not None]
        if not judged:
            self.notices.append("No input row is so either.")
        elif all(judged):
            self.notices.append("All input rows that would make it came too late.")
        for writer in writers:
            self.notices += self._still_open(writer, values)

    def _still_open(self, writer: Writer, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield a text if the watermark of a query has not reached the end of the window yet."""
        ms = writer.taken.watermark
        for origin in self._origins(writer, values):
            end, watermark = _end_of(origin, self.env.zone), None if ms is None else _clock(ms, origin, self.env.zone)
            if end is not None and watermark is not None and watermark < end:
                yield f"The window ends at {end}, and the watermark of query `{writer.name}` is at {watermark}."

    def _results(self, plan: PlanNode) -> pa.Table:
        try:
            script = local_select(plan, self.env)
            return computed(script, self._place()).rows
        except NotLocalError as reason:
            raise self._refused(str(reason)) from reason
        except SqlExtError as error:
            if error.code != _NOT_THERE:
                raise
            return script.query.schema.empty_table()  # no row of the result was written yet

    def _made_of(self, writer: Writer, values: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield what is said of each row that a result row was made of, from its table on."""
        try:
            for origin in self._origins(writer, values):
                yield from self._rows_of(origin, writer)
        except NotLocalError as reason:
            raise self._refused(str(reason)) from reason

    def _origins(self, writer: Writer, values: Mapping[str, Any]) -> list[Origin]:
        known = [(column, values[name]) for name, column in writer.filled if name in values]
        facts = facts_of([column for column, _ in known], [value for _, value in known])
        try:
            return list(origins(writer.plan, facts))
        except UntracedError as reason:
            raise self._refused(f"query `{writer.name}` has {reason}, through which rows are not traced") from reason

    def _rows_of(self, origin: Origin, writer: Writer) -> Iterator[tuple[Any, ...]]:
        script = local_select(origin.plan.transform(_as_history), in_utc(self.env, origin.scan.table))
        table = script.reads[0].table
        reader = connector_of(table).table_reader()
        arrived, places = reader.arrived(table), reader.places(table)
        splits = connector_of(table).has_splits(table)
        for found in found_rows(script, self._place(), origin.tests, self.env.zone):
            place, came_with = shown(found.origin, table), places.get(found.origin)
            taken = None if splits else writer.taken.of(found.origin, arrived.get(found.origin))
            if came_with is not None:
                place = f"{came_with.text}: {place}"
                taken = writer.taken.of_position(came_with.split, came_with.begin, came_with.end) or taken
            elif splits:
                taken = writer.taken.of_position(found.origin, found.number, found.number + 1)
            judged = _judged(taken, origin, self.env.zone) if taken is not None else (None, None, None)
            values = _text(*_as_read(origin.scan, found.row))
            yield origin.scan.table.name.name, place, found.number, *judged, values

    def _place(self) -> Location:
        self._reads += 1
        return self.folder.below(str(self._reads))

    def _refused(self, reason: str) -> SqlExtError:
        return SqlExtError(
            "DDL-043",
            f"the rows cannot be explained: {reason}",
            span=self.statement.name_span,
            hint="groupings by windows and keys, Top-N, DISTINCT and filters over files and Delta tables can",
        )


def _writers(
    asked: ast.ExplainRow, records: Sequence[QueryRecord], table: Table, env: Environment, state: SessionState
) -> Iterator[Writer]:
    for text in dict.fromkeys(r.statement for r in records):
        bound = _bound(asked, text, table, env)
        # The queries of one statement have its whole text, in the order of its INSERTs.
        for number, record in enumerate(r for r in records if r.statement == text and bound):
            plan, filled = bound[number % len(bound)]
            place = home_location(state.folder, record, state.stores)
            scans = [n for n in walk(plan) if isinstance(n, Scan)]
            reached = connector_of(scans[0].table).table_reader().reached if _is_read(scans) else None
            taken = taken_files(place, record.started, reached)
            yield Writer(record.name, plan, taken, filled)


def _is_read(scans: Sequence[Scan]) -> bool:
    """Whether a query reads one table, which a reader of ours can read."""
    return len(scans) == 1 and connector_of(scans[0].table).decodes


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


def _judged(taken: Taken, origin: Origin, zone: str) -> tuple[int, datetime | None, bool | None]:
    """Return a row's micro-batch, the watermark that it met, and whether its window was over by then."""
    watermark = None if taken.watermark is None else _clock(taken.watermark, origin, zone)
    end = _end_of(origin, zone)
    late = None if end is None else watermark is not None and end <= watermark
    return taken.batch, watermark, late


def _clock(ms: int, origin: Origin, zone: str) -> datetime:
    """Return a watermark (ms since 1970 UTC) as a wall clock of the table's rowtime."""
    instant = not any(c.part is Part.INSTANT for c in origin.scan.columns)
    return wall(ms, zone if instant else "UTC")


def _end_of(origin: Origin, zone: str) -> datetime | None:
    """Return when the window ends whose rows are sought, if that is known."""
    return next((window_of(test, zone)[1] for test in origin.tests if isinstance(test, Within)), None)


def _as_history(node: PlanNode) -> PlanNode:
    """Return a scan that reads its table as it is now; for a stream from the first row on."""
    if not isinstance(node, Scan):
        return node
    table = with_hints(node.table, (Hint("OPTIONS", (("scan.mode", "snapshot"),)),))
    if node.is_stream:
        table = connector_of(table).table_reader().history(table)
    return replace(node, table=table, is_stream=False, watermarked=False, timing=None, ends=(), future=None)


def _as_read(scan: Scan, row: pa.Table) -> tuple[list[str], tuple[Any, ...]]:
    """Return the columns of a table that a query reads, and their values in a row."""
    columns = [c for c in scan.columns if c.physical in row.column_names]
    clocks = [row.column(c.physical) for c in columns]
    shown = [v.cast(pa.timestamp("us")) if c.part is Part.INSTANT else v for c, v in zip(columns, clocks, strict=True)]
    (values,) = rows_of_table(pa.table(shown, [str(i) for i in range(len(shown))]))
    return [c.name for c in columns], values


def _text(names: Sequence[str], values: Sequence[Any]) -> str:
    return json.dumps(dict(zip(names, values, strict=True)), default=str, ensure_ascii=False)
