"""Bind ANALYZE WATERMARK: the table as it is read, and what is tried. ``advised`` answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.scans.tables import with_hints
from sqlext.analysis.scans.timing import constant_delay, future_of, timing_of
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.connectors.options import OptionError, Rules, boolean, duration, positive
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.queries import Hint
from sqlext.dialect.ast.statements import AnalyzeWatermark
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.dialect.queries.whole import parse_query
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.plan.nodes import PlanNode
from sqlext.plan.timing import Timing
from sqlext.quoting import identifier
from sqlext.settings import parse_duration
from sqlext.source import SourceText, Span
from sqlext.watermarks.advice.assumption import Assumption
from sqlext.watermarks.ends import Ends
from sqlext.watermarks.inputs import Alignment
from sqlext_catalog.model import Column, Table, View, Watermark

_OWNER = "ANALYZE WATERMARK"


#: No delay and no window is longer, in ms: ten thousand days.
_LONGEST = 10_000 * 86_400_000


def _delay(value: str) -> str | None:
    return duration(value) or _size(value, at_least=0)


def _delays(value: str) -> str | None:
    return "durations such as `10 s, 1 min`" if any(map(_delay, value.split(","))) else None


def _size(value: str, at_least: int = 1) -> str | None:
    ms = parse_duration(value)
    fits = ms is not None and at_least <= ms <= _LONGEST
    return None if fits else f"a duration{' above 0' if at_least else ''} such as `1 min`, of 10,000 days at most"


_RULES = Rules(
    {
        "rowtime": lambda value: None if value.strip() else "the name of a column",
        "delay": _delay,
        "delays": _delays,
        "window": _size,
        "per-partition": boolean,
        "rests": boolean,
        "rows-per-batch": positive,
        "partitions": positive,
    }
)


#: What can be said without reading the table.
_SEEN = frozenset({"delays", "partitions"})


@dataclass(frozen=True)
class Analyzed:
    """What a statement is about.

    Attributes:
        table: as it is read, with the options that are tried.
        column: the rowtime.
        by: the column that rows are told apart by; None: by the files or splits that they lie in.
        env: the surroundings, in which the table has these options.
        options: the statement's own.
        declared: the watermark of the rowtime, None if it has none.
    """

    statement: AnalyzeWatermark
    table: Table
    column: Column
    by: str | None
    env: Environment
    options: Mapping[str, str]
    declared: Watermark | None

    def plan(self, *more: str) -> PlanNode:
        """Return the plan of a query of the event times, of what rows are told apart by, and of more columns."""
        columns = [self.column.name, *((self.by,) if self.by is not None else ()), *more]
        selected = ", ".join(f"{identifier(c)} AS c{i}" for i, c in enumerate(columns))
        name = self.table.name
        parts = ".".join(map(identifier, (name.catalog, name.database, name.name)))
        text = SourceText.of(f"SELECT {selected} FROM {parts}")
        return QueryBinder(self.env).bind_whole(parse_query(Cursor.over(text.span(0, len(text.text)), self.env.mode)))

    def opened(self) -> Analyzed:
        """Return it with the table as its history is read; looks at what is there."""
        table = connector_of(self.table).table_reader().history(self.table)
        return replace(self, table=table, env=_with(self.env, table))

    @property
    def delay(self) -> int | None:
        """The delay (ms) that is declared or tried; None where the watermark is no constant delay."""
        given = self.options.get("delay")
        if given is not None:
            return parse_duration(given)
        mark = self.declared
        if mark is None:
            return None
        text = parse_expression_text(mark.expression, self.table.expressions, f"watermark of {self.table.name.name}")
        return constant_delay(text, mark.column)

    @property
    def delays(self) -> tuple[int, ...]:
        """The delays (ms) that are asked for; none: they are chosen."""
        return tuple(parse_duration(d) or 0 for d in self.options.get("delays", "").split(",") if d.strip())

    @property
    def partitions(self) -> int:
        """How many partitions are shown at most."""
        return int(self.options.get("partitions", "10"))

    @property
    def future(self) -> int | None:
        """How far (ms) a row may be ahead of the clock."""
        return future_of(self.table, self.env.settings)

    @property
    def assumed(self) -> Assumption:
        """How the table is declared and read."""
        splits = connector_of(self.table).has_splits(self.table)
        per_partition = self._flag("per-partition", default=splits and self.by is None)
        rests = self._flag("rests", default=True)
        # Heartbeats bring the watermark of partitions, one micro-batch later than rows do.
        behind = 1 if rests else 3 if per_partition else 2
        drift = self.alignment.drift if self.alignment is not None and per_partition else None
        return Assumption(self._timing.idle, per_partition, self.future is not None, behind, drift)

    @property
    def alignment(self) -> Alignment | None:
        """The alignment that is declared or tried."""
        return self._timing.alignment

    @property
    def _timing(self) -> Timing:
        # What has an end is not idle where it is read to it. Here it stands for a stream.
        endless = replace(self.table, options=(*self.table.options, ("scan.mode", "streaming")))
        return timing_of(endless, self.env.settings, own=True)

    @property
    def windows(self) -> Ends | None:
        """When the windows end whose rows are judged."""
        size = parse_duration(self.options.get("window", ""))
        instant = self.column.type is not None and self.column.type.root != "TIMESTAMP"
        zone = self.env.zone if instant and self.env.zone != "UTC" else None
        return Ends(size, zone=zone) if size else None

    def _flag(self, key: str, *, default: bool) -> bool:
        value = self.options.get(key)
        return default if value is None else value.strip().lower() == "true"


def in_utc(env: Environment, table: Table) -> Environment:
    """Return surroundings in which a TIMESTAMP rowtime is shown as it is held; of instants the zone stays.

    A TIMESTAMP is a wall clock without a zone. In another zone than UTC only Spark converts what holds it.
    """
    instants = any(c.type is not None and c.type.root == "TIMESTAMP_LTZ" for c in table.columns)
    return env if instants else replace(env, settings=env.settings.with_value("table.local-time-zone", "UTC"))


def analyzed(statement: AnalyzeWatermark, env: Environment) -> Analyzed:
    """Bind a statement.

    Raises:
        SqlExtError: NAME-002, NAME-003 for names that nothing has, CAT-004 for a view, TIME-017 for a table without a
            rowtime, TIME-018 for one that keeps no order, OPT-... for options.
    """
    of_view = "name the table that it reads: watermarks are declared there"
    table = named_table(statement.name, statement.name_span, env, of_view)
    own = {o.key: o.value for o in statement.options if o.key in _RULES.keys}
    tried = tuple((o.key, o.value) for o in statement.options if o.key not in _RULES.keys)
    places = {o.key: o.key_span.to(o.value_span) for o in statement.options}
    try:
        _RULES.check(_OWNER, own)
        if statement.seen_span is not None:
            _check_seen(own, tried)
        for key, value in own.items():
            if value.startswith(("env:", "file:")):  # rules let references to secrets pass
                message = f"option '{key}' of {_OWNER} is no secret"
                raise OptionError("OPT-005", message, option=key, hint="write the value itself")
        for key, _ in tried:
            if connector_of(table).refused_option(table, key) is not None:
                raise _RULES.unknown(_OWNER, key) or AssertionError(key)
        table = with_hints(table, (Hint("OPTIONS", tried),))
        env.admit(table, "source")
        column = _rowtime(statement, table, own)
        read = _as_read(statement, table, column) if statement.seen_span is None else table
        declared = table.watermark if table.watermark is not None and table.watermark.column == column.name else None
        found = Analyzed(statement, read, column, _by(statement, table), _with(in_utc(env, read), read), own, declared)
        _ = found.assumed
    except SqlExtError as error:
        key = (isinstance(error, OptionError) and error.option) or ""
        raise error.at(places[key]) if key in places else env.placed(error, table, statement.name_span) from None
    return found


def _check_seen(own: Mapping[str, str], tried: Sequence[tuple[str, str]]) -> None:
    """Refuse what cannot be tried where only counts of lags are known."""
    refused = next((key for key in (*own, *dict(tried)) if key not in _SEEN), None)
    if refused is not None:
        message = f"option '{refused}' of {_OWNER} needs the rows, and queries have kept counts alone"
        hint = "leave out FROM QUERIES, or the option"
        raise OptionError("TIME-021", message, option=refused, hint=hint)


#: What to do where EXPLAIN ROW names a view.
OF_VIEW = "name the table that an INSERT writes"


def named_table(name: tuple[str, ...], span: Span, env: Environment, of_view: str) -> Table:
    """Return the table of the catalog that a statement names; Spark is not asked for it.

    Args:
        of_view: the hint where it is a view.

    Raises:
        SqlExtError: NAME-002 for a name that nothing has, CAT-004 for a view.
    """
    found, text = env.catalog.lookup(name), ".".join(name)
    if found is None:
        hint = did_you_mean(name[-1], env.catalog.candidates())
        raise SqlExtError("NAME-002", f"there is no table `{text}`", span=span, hint=hint)
    if isinstance(found, View):
        raise SqlExtError("CAT-004", f"`{text}` is a view", span=span, hint=of_view)
    return found


def _rowtime(statement: AnalyzeWatermark, table: Table, own: Mapping[str, str]) -> Column:
    name = own.get("rowtime") or (table.watermark.column if table.watermark is not None else None)
    if name is None:
        raise SqlExtError(
            "TIME-017",
            f"`{table.name.name}` declares no watermark, so it has no event time",
            span=statement.name_span,
            hint="WITH ('rowtime' = 'ts') names the column that would have one",
        )
    column = next((c for c in table.columns if c.name == name), None)
    if column is None:
        hint = did_you_mean(name, [c.name for c in table.columns])
        raise OptionError("NAME-003", f"`{table.name.name}` has no column `{name}`", option="rowtime", hint=hint)
    if column.type is None or not column.type.root.startswith("TIMESTAMP"):
        message = f"column `{name}` of type {column.type} is no event time"
        hint = "it must be a TIMESTAMP(3) or TIMESTAMP_LTZ(3)"
        raise OptionError("TIME-011", message, option="rowtime", hint=hint)
    return column


def _by(statement: AnalyzeWatermark, table: Table) -> str | None:
    names = [c.name for c in table.columns]
    if statement.by is not None and statement.by not in names:
        message = f"`{table.name.name}` has no column `{statement.by}`"
        raise SqlExtError("NAME-003", message, span=statement.by_span, hint=did_you_mean(statement.by, names))
    return statement.by


def _as_read(statement: AnalyzeWatermark, table: Table, column: Column) -> Table:
    """Return a table as it is read here: to its end, without a watermark of its own."""
    connector = connector_of(table)
    snapshot = with_hints(table, (Hint("OPTIONS", (("scan.mode", "snapshot"),)),))
    if not connector.decodes:
        raise SqlExtError(
            "TIME-018",
            f"{connector.owner} of `{table.name.name}` does not keep its rows in the order in which they came",
            span=statement.name_span,
            hint="write some of its rows into a folder or a Delta table, and analyze that",
        )
    if snapshot.watermark is None:  # the column is read as a rowtime is
        return replace(snapshot, watermark=Watermark(column.name, identifier(column.name)))
    return snapshot


@dataclass(frozen=True)
class _Instead:
    """A catalog in which one table is another one."""

    env: Environment
    table: Table

    def lookup(self, parts: tuple[str, ...]) -> Table | View | None:
        """Return the relation that a name means."""
        found = self.env.catalog.lookup(parts)
        return self.table if found is not None and found.name == self.table.name else found

    def candidates(self) -> Sequence[str]:
        """Return the names that could have been meant."""
        return list(self.env.catalog.candidates())


def _with(env: Environment, table: Table) -> Environment:
    return replace(env, catalog=_Instead(env, table))
