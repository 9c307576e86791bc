"""Bind a table of the catalog: its columns, its time attributes, how it is read, and which version of it."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.hints import check_hints
from sqlext.analysis.relations.state_ttl import setting_ttl
from sqlext.analysis.scans.bad_rows import bad_rows_of, judges, with_policy
from sqlext.analysis.scans.timing import constant_delay, future_of, is_source_watermark, timing_of
from sqlext.capabilities import ADMISSION, has, missing
from sqlext.connectors.options import BAD_ROWS_OPTION, OptionError
from sqlext.connectors.registry import connector_of, known
from sqlext.dialect.ast.expressions import Expr, Literal
from sqlext.dialect.ast.queries import Hint, TableRef
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.plan.columns import Part, PlanColumn, Time
from sqlext.plan.current_rows import CurrentRows
from sqlext.plan.nodes import Output, PlanNode, Scan
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.settings import REAL_TIME, Settings
from sqlext.types import TIMESTAMP_LTZ3
from sqlext_catalog.model import Column, Table


def scan_table(table: Table, env: Environment, ref: TableRef) -> Scan:
    """Return the scan of a table as a query reads it, with the options of its hints.

    Raises:
        SqlExtError: OPT-... for options that its connector does not take, TIME-004 for SOURCE_WATERMARK()
            on a source that has none, OPT-030 to 033 for options of its time,
            OPT-015 for a source of changes that is not read as a stream, OPT-034 and OPT-035 for its bad rows.
    """
    check_hints(ref.hints, ref.span)
    table = with_hints(table, ref.hints)
    try:
        return _scanned(table, env, ref)
    except SqlExtError as error:
        raise env.placed(error, table, ref.span, ref.hints) from None


def _scanned(table: Table, env: Environment, ref: TableRef) -> Scan:
    connector = connector_of(table)
    env.admit(table, "source")
    is_stream = env.settings.streaming and not connector.is_static(table)
    own, judged = table.option(BAD_ROWS_OPTION), judges(table, env)
    if judged:
        table = with_policy(table, env, stream=is_stream)
    raw = raw_columns(table)
    inner = Scope((ScopeRelation("", (table.name.name,), raw),), table.expressions, env.zone)
    # PROCTIME() is no column of the source's view: each step that asks for it reads the clock.
    computed = tuple(
        Output(c.name, _parse(table, c.expression or "", c.name))
        for c in table.columns
        if c.kind == "computed" and c.name not in table.proctime_columns
    )
    if connector.changelog(table) and not is_stream:
        raise _for_streams(table, ref, "gives changes of rows")
    if connector.needs_stream and not is_stream and not connector.bounded(table):
        raise _for_streams(table, ref, "has no end")
    scan = Scan(
        table_columns(table),
        table,
        env.source_view(table.name.name),
        is_stream,
        inner,
        computed,
        # Flink's WatermarkAssignerOperator: "RowTime field should not be null, please convert it ..."
        null_handling=env.settings.get("table.exec.source.rowtime-null-handling") or "fail",
        retracts=connector.changelog(table),
        upserts=connector.upserts(table),
        own_reader=connector.only_own_reader(table) or (is_stream and can_read(table)),
        bad=bad_rows_of(table, own, env, ref.span) if judged else None,
    )
    return _with_watermark(scan, env, ref) if scan.is_stream and table.watermark else scan


def _for_streams(table: Table, ref: TableRef, why: str) -> SqlExtError:
    """Flink: "Querying a table in batch mode is currently only possible for INSERT-only table sources"."""
    return SqlExtError(
        "OPT-015",
        f"`{table.name.name}` {why}, which only a stream can read",
        span=ref.span,
        hint="SET 'execution.runtime-mode' = 'streaming', without 'scan.mode' = 'snapshot'",
    )


def _with_watermark(scan: Scan, env: Environment, ref: TableRef) -> Scan:
    mark = scan.table.watermark
    assert mark is not None
    expression = _parse(scan.table, mark.expression, mark.column)
    if is_source_watermark(expression):
        raise SqlExtError(
            "TIME-004",
            f"connector '{scan.table.option('connector')}' has no watermark of its own for SOURCE_WATERMARK()",
            span=ref.span,
            hint=f"declare WATERMARK FOR {mark.column} AS {mark.column} - INTERVAL '5' SECOND",
        )
    # Spark's withWatermark takes a constant delay. The marks of any other expression are computed row by row.
    delay = constant_delay(expression, mark.column)
    marks = None if delay is not None else expression
    own = scan.own_reader and wanted_source(scan.table, env.settings) != "spark"
    timing = timing_of(scan.table, env.settings, own=own)
    future = future_of(scan.table, env.settings)
    return replace(scan, rowtime=mark.column, delay=delay, marks=marks, timing=timing, future=future)


def as_of(ref: TableRef, env: Environment) -> TableRef:
    """Bind ``FOR SYSTEM_TIME AS OF`` a literal: return a table as it was then, by the options of its reader.

    Raises:
        SqlExtError: JOIN-007 for a time that is no literal (outside of a join there is no row that has one), JOIN-013
            for a table that does not keep what it was.
    """
    time = ref.system_time
    if not isinstance(time, Literal) or time.kind not in ("TIMESTAMP", "TIMESTAMP_LTZ", "DATE", "STRING"):
        raise SqlExtError(
            "JOIN-007",
            "FOR SYSTEM_TIME AS OF takes a time attribute of the left side of a join, or a literal",
            span=time.span if time is not None else ref.span,
            hint="t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'",
        )
    found = env.catalog.lookup(ref.parts)
    connector = known(found) if isinstance(found, Table) else None
    kept = connector.as_of(time.value) if connector is not None else None
    if kept is None:
        raise SqlExtError(
            "JOIN-013",
            f"`{ref.parts[-1]}` does not keep what it was: only delta tables have a FOR SYSTEM_TIME AS OF a literal",
            span=ref.span,
        )
    # The first hint wins, so no hint of the user makes a stream of the old version.
    options = (("scan.mode", "snapshot"), *kept)
    return replace(ref, system_time=None, hints=(Hint("OPTIONS", options), *ref.hints))


def current_rows(scan: Scan, env: Environment) -> PlanNode:
    """Return the changes of a table whose records are upserts.

    Raises:
        SqlExtError: JOIN-006 for a time to live that is no duration.
    """
    key = scan.table.primary_key
    if key is None:
        return scan
    return CurrentRows(scan.columns, (scan,), retracts=True, primary=key.columns, ttl=setting_ttl(env))


def _parse(table: Table, text: str, column: str) -> Expr:
    return parse_expression_text(text, table.expressions, f"column {table.name.name}.{column}")


def with_hints(table: Table, hints: tuple[Hint, ...]) -> Table:
    """Return the table with the options of its OPTIONS hints: a hint beats the table, the first hint wins."""
    options = dict(table.options)
    for hint in reversed([h for h in hints if h.name.upper() == "OPTIONS"]):
        options.update(hint.options)
    return replace(table, options=tuple(options.items()))


def raw_columns(table: Table) -> tuple[PlanColumn, ...]:
    """Return the columns that computed columns can use: physical and metadata ones."""
    return tuple(_column(c, table) for c in table.columns if c.kind != "computed")


def table_columns(table: Table) -> tuple[PlanColumn, ...]:
    """Return all columns of a table as a query sees them, in order of declaration."""
    return tuple(_column(c, table) for c in table.columns)


def _column(column: Column, table: Table) -> PlanColumn:
    if column.name in table.proctime_columns:
        return PlanColumn(column.name, TIMESTAMP_LTZ3.not_null(), "", Part.PROCTIME, Time.PROCTIME)
    if table.watermark is None or table.watermark.column != column.name:
        return PlanColumn(column.name, column.type, column.name)
    ntz = column.type is not None and column.type.root == "TIMESTAMP"
    part = Part.INSTANT if ntz else Part.VALUE
    return PlanColumn(column.name, column.type, column.name, part, Time.ROWTIME)


def wanted_source(table: Table, settings: Settings) -> str:
    """Return ``arrow``, ``spark`` or ``auto``: what the table says, else what is SET.

    Real-time mode is Spark's: readers of ours have no part in it.
    """
    chosen = "spark" if settings.get(REAL_TIME) else settings.get("sqlext.source")
    return (table.option("sqlext.source") or chosen or "auto").lower()


def can_read(table: Table) -> bool:
    """Return whether a reader of ours can give the rows of a stream, and does so better than Spark's source.

    ``auto`` takes it then: it knows the time of each partition, and can hold them back.

    Raises:
        OptionError: OPT-033 where the table asks for it and there is none.
        SqlExtError: ENV-014 where Spark cannot.
    """
    connector = connector_of(table)
    prefers, is_asked = connector.prefers_own_reader(table), (table.option("sqlext.source") or "").lower() == "arrow"
    if not prefers and not is_asked:
        return False  # first: who looks for a reader imports Arrow
    if not has(ADMISSION):
        if is_asked:
            raise missing(ADMISSION)
        return False
    reason = connector.no_own_reader(table)
    if reason and is_asked:
        message = f"`{table.name.name}` cannot be read by a reader of ours: {reason}"
        raise OptionError("OPT-033", message, option="sqlext.source")
    return prefers and not reason
