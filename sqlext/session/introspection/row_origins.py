"""Answer EXPLAIN ROW: find the rows of a result, the queries that write them, and the input rows that they are made of.

Nothing is asked of Spark: tables are read as the local engine reads them, from their first row on.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa

from sqlext.analysis.names.environment import Environment
from sqlext.connectors.readers import Unread
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.jobs.taken.model import END, Taken
from sqlext.local.arrivals import shown
from sqlext.local.engine import computed
from sqlext.local.row_search import FoundRow, clock_passes, found_rows, window_of
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.columns import Part
from sqlext.plan.lineage.origins import Group, Origin, UntracedError, facts_of, origins, rows_below
from sqlext.plan.lineage.readable import without_columns
from sqlext.plan.lineage.tests import Equal, IsTrue, Within
from sqlext.plan.nodes import Scan
from sqlext.session.introspection.advisor import OF_VIEW, in_utc, named_table
from sqlext.session.introspection.row_panes import (
    LEFT_OUT,
    MOST_PANES,
    ArrivedRow,
    Pane,
    as_it_came,
    needs_other_rows,
    panes_of,
    result_names,
)
from sqlext.session.introspection.row_writers import Writer, writers_of
from sqlext.session.introspection.wanted import wanted_values
from sqlext.session.local_plans import NotLocalError, local_select
from sqlext.session.state import SessionState
from sqlext.sources.values import rows_of_table
from sqlext.spark.notices import Notice
from sqlext.stores.location import Location
from sqlext.watermarks.texts import wall
from sqlext_catalog.model import Table

COLUMNS = (
    *("result", "query", "input", "place", "row", "batch", "watermark", "late"),
    *("pane", "firing", "trigger", "rows", "clock", "values"),
)
#: The code of a path at which nothing lies.
_NOT_THERE = "OPT-009"
_QUERY, _INPUT, _LATE, _FIRING = 1, 2, 7, 9
#: How many rows of a result are explained, and how many input rows of each are shown.
MOST_RESULTS, MOST_ROWS = 10, 1000
#: How many input rows a group may have whose panes are told.
MOST_PANED = 5_000


class RowNotice(Notice):
    """What the lines of EXPLAIN ROW do not say of themselves."""


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
    writers = list(writers_of(statement, records, table, env, state))
    with TemporaryDirectory(prefix="sqlext-") as folder:
        return _Explaining(statement, env, Location(folder)).answer(table, rows, writers)


class _Found(NamedTuple):
    """An input row, where it lies, and the micro-batch that took it; None if that is not known."""

    origin: Origin
    row: FoundRow
    place: str
    taken: Taken | None


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
    _unread: set[str] = field(default_factory=set)

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
        self.lines.append((number, None, table.name.name, *[None] * 10, shown))
        found = 0
        for writer in writers:
            # A column that a query does not fill is NULL in its rows.
            if any(value.is_valid for name, value in values.items() if name not in dict(writer.filled)):
                continue
            traced = self._origins(writer, values)
            made_of = self._made_of(writer, traced, MOST_PANED)
            found += len(made_of)
            panes = list(self._panes(writer, traced, made_of))
            self.lines += ((number, writer.name, *line) for line in (*panes, *map(self._line, made_of[:MOST_ROWS])))
            if len(made_of) > MOST_ROWS:
                self.notices.append(f"There are more than {MOST_ROWS:,} input rows: the first ones are shown.")
            if not all(origin.exact for origin in traced):
                self._say(
                    f"More rows than those of the result may be named for query `{writer.name}`: it does not hold all"
                    " that tells them apart, or a frame by rows, a match or windows of windows take a part of them."
                )
        if number is not None and not found:
            self._say(
                f"No input row of result {number} is found: its input was rewritten or removed since, it comes from"
                " VALUES or FILL, or the settings, views and functions of its query are others now."
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
        lines = [line for line in self.lines if line[_QUERY] is not None]
        judged = [line[_LATE] for line in lines if line[_INPUT] is not None]
        if not judged:
            self.notices.append("No input row is so either.")
        elif all(judged):
            self.notices.append("All input rows that would make it came too late.")
        if any(LEFT_OUT in (line[_FIRING] or "") for line in lines):
            self.notices.append("A pane came out, and HAVING left it out.")
        for writer in writers:
            traced = self._origins(writer, values)
            self.notices += _lacking(
                writer, traced, {line[_INPUT] for line in lines if line[_QUERY] == writer.name} | self._unread
            )
            self.notices += self._still_open(writer, traced)

    def _still_open(self, writer: Writer, traced: Sequence[Origin]) -> Iterator[str]:
        """Yield texts if the watermark of a query has not reached the end of the window yet: which inputs hold it."""
        ms, zone = writer.history.watermark, self.env.zone
        ends = {end: origin for origin in traced if (end := _end_of(origin, zone)) is not None}
        for end, origin in ends.items():
            watermark = None if ms is None else _clock(ms, origin.scan, zone)
            if watermark is None or watermark >= end + _allowed(origin):
                continue
            yield f"The window ends at {end}, and the watermark of query `{writer.name}` is at {watermark}."
            for known in writer.report.inputs if writer.report is not None else ():
                here = None if known.watermark is None else wall(known.watermark, known.zone)
                if not (known.idle or known.ended) and (here is None or here < end):
                    at = "has none yet" if here is None else f"is at {here}"
                    row = end + timedelta(milliseconds=known.delay)
                    yield f"The watermark of `{known.name}` {at}: a row of {row} or later must come."

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

    def _made_of(self, writer: Writer, traced: Sequence[Origin], most: int) -> list[_Found]:
        """Return the rows that a result row was made of, at most one more than wanted."""
        found: list[_Found] = []
        for origin in traced:
            try:
                found += islice(self._rows_of(origin, writer), most + 1 - len(found))
            except NotLocalError as reason:
                table = origin.scan.table
                is_endless = origin.scan.is_stream and not connector_of(table).bounded(table)
                if is_endless or all(one.scan.view == origin.scan.view for one in traced):
                    raise self._refused(str(reason)) from reason
                self._unread.add(table.name.name)
        for name in sorted(self._unread):
            self._say(f"Rows of `{name}` are not named: only Spark reads that table.")
        return found

    def _panes(self, writer: Writer, traced: Sequence[Origin], made_of: Sequence[_Found]) -> Iterator[tuple[Any, ...]]:
        """Yield what is said of each pane of the groups that a result row was made of."""
        groups = {id(origin.group.node): origin.group for origin in traced if origin.group is not None}
        filled = {column.physical: name for name, column in writer.filled}
        for group in groups.values():
            rows = self._of_group(writer, group, traced, made_of)
            names = result_names(writer.plan, group.node, filled)
            told = list(islice(panes_of(group, rows, writer.history.times, names, self.env), MOST_PANES + 1))
            yield from (self._pane(pane, group) for pane in told[:MOST_PANES])
            if len(told) > MOST_PANES:
                self._say(f"There are more than {MOST_PANES:,} panes: the first ones are shown.")

    def _of_group(
        self, writer: Writer, group: Group, traced: Sequence[Origin], made_of: Sequence[_Found]
    ) -> Sequence[ArrivedRow] | None:
        """Return the rows by which the panes of a group are told; None if they are too many."""
        needed = needs_other_rows(group)
        if needed == "all":
            made_of = self._made_of(writer, list(map(_as_readable, rows_below(group))), MOST_PANED)
        elif needed == "key":
            made_of = self._made_of(writer, list(map(_of_key, traced)), MOST_PANED)
        if len(made_of) > MOST_PANED:
            return None
        own = [found for found in made_of if found.origin.group is not None and found.origin.group.node is group.node]
        return [ArrivedRow(f.origin.scan.view, f.row.row, f.taken.batch if f.taken is not None else None) for f in own]

    def _pane(self, pane: Pane, group: Group) -> tuple[Any, ...]:
        watermark = clock = None
        if pane.time is not None:
            scan = next(n for n in walk(group.node) if isinstance(n, Scan))
            known = pane.time.watermark not in (None, END)
            watermark = _clock(pane.time.watermark or 0, scan, self.env.zone) if known else None
            timed = pane.time.clock is not None and group.node.uses_clock
            clock = wall(pane.time.clock or 0, self.env.zone) if timed else None
        batch = None if pane.time is None else pane.time.batch
        values = _text(list(pane.values), list(pane.values.values()))
        told = (pane.number, pane.firing, pane.trigger, pane.rows, clock, values)
        return (None, None, None, batch, watermark, None, *told)

    def _origins(self, writer: Writer, values: Mapping[str, Any]) -> list[Origin]:
        known = [(column, values[name]) for name, column in writer.filled if name in values]
        facts = facts_of([column for column, _ in known], [value for _, value in known])
        try:
            return list(map(_as_readable, origins(writer.plan, facts)))
        except UntracedError as reason:
            raise self._refused(f"query `{writer.name}` has {reason}, through which rows are not traced") from reason

    def _rows_of(self, origin: Origin, writer: Writer) -> Iterator[_Found]:
        if not connector_of(origin.scan.table).decodes:
            raise NotLocalError(f"only Spark reads `{origin.scan.table.name.name}`")
        script = local_select(origin.plan.transform(_as_history), in_utc(self.env, origin.scan.table), whole=True)
        table, of_table = script.reads[0].table, writer.taken(origin.scan)
        reader = connector_of(table).table_reader()
        arrived, places = reader.arrived(table), reader.places(table)
        splits = connector_of(table).has_splits(table)
        for found in found_rows(script, self._place(), origin.tests, self.env.zone):
            place, came_with = shown(found.origin, table), places.get(found.origin)
            taken = None if splits else of_table.of(found.origin, arrived.get(found.origin))
            if came_with is not None:
                place = f"{came_with.text}: {place}"
                taken = of_table.of_position(came_with.split, came_with.begin, came_with.end) or taken
            elif splits:
                taken = of_table.of_position(found.origin, found.number, found.number + 1)
            if self._in_time(taken, origin, writer):
                yield _Found(origin, found, place, taken)

    def _in_time(self, taken: Taken | None, origin: Origin, writer: Writer) -> bool:
        """Whether a row came in time for a window of processing time, as far as its micro-batch is known."""
        clocks = {time.batch: time.clock for time in writer.history.times}
        clock = clocks.get(taken.batch) if taken is not None and origin.clock is not None else None
        if origin.clock is None or (clock is not None and clock_passes(clock, origin.clock, self.env.zone)):
            return True
        if clock is None:
            self._say(
                "Rows may be named that other windows of processing time took: their micro-batches are not known."
            )
        return clock is None

    def _line(self, found: _Found) -> tuple[Any, ...]:
        origin = found.origin
        judged = _judged(found.taken, origin, self.env.zone) if found.taken is not None else (None, None, None)
        values = _text(*_as_read(origin.scan, found.row.row))
        return (origin.scan.table.name.name, found.place, found.row.number, *judged, *[None] * 5, values)

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


def _lacking(writer: Writer, traced: Sequence[Origin], found: Container[object]) -> Iterator[str]:
    """Yield which of several tables have no row that would make a row."""
    names = dict.fromkeys(origin.scan.table.name.name for origin in traced)
    lacking = [name for name in names if name not in found]
    if len(lacking) < len(names):
        yield from (f"No row of `{name}` is so, which query `{writer.name}` reads too." for name in lacking)


def _judged(taken: Taken, origin: Origin, zone: str) -> tuple[int, datetime | None, bool | None]:
    """Return a row's micro-batch, the watermark that it met, and whether its window was over by then."""
    watermark = None if taken.watermark is None else _clock(taken.watermark, origin.scan, zone)
    end = _end_of(origin, zone)
    late = None if end is None else watermark is not None and end + _allowed(origin) <= watermark
    return taken.batch, watermark, late


def _allowed(origin: Origin) -> timedelta:
    """Return how long after its end a window takes rows: ALLOW LATENESS, and a watermark that is held back."""
    firing = origin.group.node.firing if origin.group is not None else None
    return timedelta(milliseconds=0 if firing is None else firing.policy.lateness + firing.policy.delay)


def _clock(ms: int, scan: Scan, zone: str) -> datetime:
    """Return a watermark (ms since 1970 UTC) as a wall clock of the table's rowtime."""
    instant = not any(c.part is Part.INSTANT for c in scan.columns)
    return wall(ms, zone if instant else "UTC")


def _end_of(origin: Origin, zone: str) -> datetime | None:
    """Return when the window ends whose rows are sought, if that is known."""
    return next((window_of(test, zone)[1] for test in origin.tests if isinstance(test, Within)), None)


def _of_key(origin: Origin) -> Origin:
    """Return the rows of all windows of a key."""
    return replace(origin, tests=tuple(t for t in origin.tests if isinstance(t, (Equal, IsTrue))), clock=None)


def _as_readable(origin: Origin) -> Origin:
    """Return rows without the columns that this process does not read, such as arrays in JSON."""
    table = origin.scan.table
    connector = connector_of(table)
    if not connector.decodes:
        return origin
    reader, unread = connector.table_reader(), set()
    for column in table.columns:
        try:
            if column.kind != "computed":
                reader.column(table, column)
        except Unread:
            unread.add(column.name)
    return without_columns(origin, unread)


def _as_history(node: PlanNode) -> PlanNode:
    """Return a scan that reads its table as it is now; for a stream from the first row on."""
    given = as_it_came(node)
    return replace(given, is_stream=False, future=None) if isinstance(given, Scan) else given


def _as_read(scan: Scan, row: pa.Table) -> tuple[list[str], tuple[Any, ...]]:
    """Return the columns of a table that a query reads, and their values in a row."""
    columns = [c for c in scan.columns if c.physical in row.column_names]
    clocks = [row.column(c.physical) for c in columns]
    shown = [v.cast(pa.timestamp("us")) if c.part is Part.INSTANT else v for c, v in zip(columns, clocks, strict=True)]
    (values,) = rows_of_table(pa.table(shown, [str(i) for i in range(len(shown))]))
    return [c.name for c in columns], values


def _text(names: Sequence[str], values: Sequence[Any]) -> str:
    return json.dumps(dict(zip(names, values, strict=True)), default=str, ensure_ascii=False)
