"""Bind an INSERT: which query column fills which sink column, and how it is converted."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.inserts.bound import Assignment, BoundInsert
from sqlext.analysis.inserts.guards import guarded
from sqlext.analysis.inserts.sides import Into, side_inserts
from sqlext.analysis.inserts.sink_modes import sink_mode
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.relations.hints import check_hints
from sqlext.analysis.scans.tables import with_hints
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.analysis.types.coercion import can_explicitly_cast, can_implicitly_cast
from sqlext.analysis.types.inference import infer
from sqlext.connectors.base import written_columns
from sqlext.dialect.ast.expressions import Star
from sqlext.dialect.ast.queries import Select, Values
from sqlext.dialect.ast.statements import Insert
from sqlext.errors import SqlExtError, counted, did_you_mean
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import PlanNode
from sqlext.plan.scope import Scope
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, Table, View


def bind_insert(insert: Insert, env: Environment) -> BoundInsert:
    """Return an INSERT bound to its sink.

    Raises:
        SqlExtError: NAME-002 for an unknown sink, SINK-001 for another number of columns, SINK-002 for types
            that do not fit, SINK-003 for two rowtimes, SINK-004, EMIT-107 and EMIT-108 for updates that the sink
            cannot take, SINK-005 for OVERWRITE in streaming mode, OPT-... for its options.
    """
    table = _sink(insert, env)
    plan = guarded(QueryBinder(env).bind_whole(insert.query), env, insert.span, into=True)
    assignments = _assign(insert, table, plan)
    scope = Scope((), env.mode, env.zone)
    for assignment in assignments:
        _check_type(assignment, table, insert, plan, scope)
    _check_rowtimes(insert, table, plan)
    if insert.overwrite and plan.streaming:
        raise SqlExtError(
            "SINK-005",
            "INSERT OVERWRITE needs a query that ends",
            span=insert.span,
            hint="SET 'execution.runtime-mode' = 'batch'",
        )
    plan, mode = sink_mode(plan, table, env, insert.query.span)
    # Flink's default: a NULL for a NOT NULL column fails the job.
    enforcer = env.settings.get("table.exec.sink.not-null-enforcer") or "error"
    sides = side_inserts(plan, env, Into(table, assignments, insert.span))
    return BoundInsert(table, plan, assignments, mode, insert.overwrite, insert.span, scope, enforcer, sides)


def _sink(insert: Insert, env: Environment) -> Table:
    found = env.catalog.lookup(insert.name)
    if isinstance(found, View):
        raise SqlExtError("SINK-006", f"`{found.name.name}` is a view", span=insert.name_span)
    if found is None:
        name = ".".join(insert.name)
        hint = did_you_mean(insert.name[-1], env.catalog.candidates())
        raise SqlExtError("NAME-002", f"there is no table `{name}`", span=insert.name_span, hint=hint)
    check_hints(insert.hints, insert.name_span)
    table = _without_metadata(with_hints(found, insert.hints), insert)
    try:
        env.admit(table, "sink")
    except SqlExtError as error:
        raise env.placed(error, table, insert.name_span, insert.hints) from None
    return table


def _without_metadata(table: Table, insert: Insert) -> Table:
    """Return a table without the metadata that an INSERT with a list of columns leaves out.

    Flink writes NULL there, and then the connector its own value: the time of a record of Kafka is that of the broker.
    """
    if not insert.columns:
        return table
    written = (c for c in table.columns if c.kind == "metadata" and not c.virtual)
    left_out = (c.name for c in written if c.type is not None and c.type.nullable)
    gone = set(left_out) - set(insert.columns) - {name for name, _ in insert.partition}
    return replace(table, columns=tuple(c for c in table.columns if c.name not in gone)) if gone else table


def _assign(insert: Insert, table: Table, plan: PlanNode) -> tuple[Assignment, ...]:
    # Computed columns and VIRTUAL metadata are read only (Flink's docs, CREATE TABLE, Metadata Columns).
    writable = {c.name: c for c in table.columns if c.name in {w.name for w in written_columns(table)}}
    constants = {}
    for name, value in insert.partition:
        if name not in writable:
            raise _no_column(name, table, insert.name_span, writable)
        if name not in table.partitioned_by:
            message = f"`{table.name.name}` is not partitioned by `{name}`"
            hint = f"name it among the columns: INSERT INTO {table.name.name} ({', '.join(writable)}) SELECT ..."
            raise SqlExtError("SINK-001", message, span=insert.name_span, hint=hint)
        constants[name] = value
    named = insert.columns or tuple(n for n in writable if n not in constants)
    for i, name in enumerate(named):
        place = insert.column_spans[i] if i < len(insert.column_spans) else insert.name_span
        if name not in writable:
            raise _no_column(name, table, place, writable)
        if name in named[:i] or name in constants:
            message = f"column `{name}` of `{table.name.name}` is named twice"
            raise SqlExtError("NAME-006", message, span=place, hint="name each column once")
    if len(named) != len(plan.columns):
        raise SqlExtError(
            "SINK-001",
            f"the query gives {counted(len(plan.columns), 'column')}, `{table.name.name}` takes {len(named)}",
            span=insert.query.span,
            hint=f"query: {_shown(plan.columns)}; sink: {', '.join(f'{n} {writable[n].type}' for n in named)}",
        )
    for name, column in writable.items():
        left_out = name not in named and name not in constants
        # As in Flink's partial inserts, a column that is left out gets NULL.
        if left_out and column.type is not None and not column.type.nullable:
            raise SqlExtError(
                "SINK-007",
                f"column `{name}` of `{table.name.name}` is NOT NULL, but nothing is inserted into it",
                span=insert.name_span,
            )
    sources = dict(zip(named, plan.columns, strict=True))
    return tuple(Assignment(c, sources.get(n), constants.get(n)) for n, c in writable.items())


def _no_column(name: str, table: Table, span: Span, known: dict[str, Column]) -> SqlExtError:
    hint = did_you_mean(name, known) or f"those that can be written are {', '.join(known)}"
    return SqlExtError("NAME-003", f"`{table.name.name}` has no column `{name}` to write", span=span, hint=hint)


def _shown(columns: tuple[PlanColumn, ...]) -> str:
    return ", ".join(f"{c.name} {c.type_text()}" for c in columns)


def _item(assignment: Assignment, insert: Insert, plan: PlanNode) -> Span | None:
    """Return where the item of SELECT, or of VALUES, stands that gives a column; None where no single one does."""
    body = insert.query.body
    if isinstance(body, Values) and len(body.rows) == 1:
        return next((v.span for v, c in zip(body.rows[0], plan.columns, strict=True) if c is assignment.source), None)
    if not isinstance(body, Select) or len(body.items) != len(plan.columns):
        return None
    if any(isinstance(i.expr, Star) for i in body.items):
        return None
    return next(
        (i.expr.span for i, c in zip(body.items, plan.columns, strict=True) if c is assignment.source),
        None,
    )


def _check_type(assignment: Assignment, table: Table, insert: Insert, plan: PlanNode, scope: Scope) -> None:
    target = assignment.target
    from_ = assignment.source.type if assignment.source else None
    if assignment.constant is not None:
        from_ = infer(assignment.constant, scope)
    if from_ is None or target.type is None or can_implicitly_cast(from_, target.type):
        return
    if scope.mode == "spark" and stores_in_spark(from_, target.type):
        return
    name = assignment.source.name if assignment.source else "the constant"
    item = _item(assignment, insert, plan)
    message = f"`{name}` is {from_}, column `{target.name}` of `{table.name.name}` is {target.type}"
    hint = f"CAST({item.one_line if item else name} AS {target.type.flink()})"
    if not can_explicitly_cast(from_, target.type):
        hint = f"no CAST leads there: select a {target.type.flink()}, or declare `{target.name}` {from_.flink()}"
    raise SqlExtError("SINK-002", message, span=item or insert.query.span, hint=hint)


def stores_in_spark(from_: LogicalType, to: LogicalType) -> bool:
    """Whether Spark's INSERT takes a type (its ANSI store assignment): a value that does not fit fails the job."""
    times = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ")
    # Spark's Cast.canANSIStoreAssign: a text goes to a text column alone, even if it reads as a number.
    return (from_.is_numeric and to.is_numeric) or to.is_text or (from_.root in times and to.root in times)


def _check_rowtimes(insert: Insert, table: Table, plan: PlanNode) -> None:
    """Refuse two rowtimes, as Flink does: which of them would be the sink's event time?"""
    rowtimes = [c.name for c in plan.columns if c.is_rowtime]
    if len(rowtimes) > 1 and plan.streaming:
        raise SqlExtError(
            "SINK-003",
            f"the query gives `{table.name.name}` more than one rowtime: {', '.join(rowtimes)}",
            span=insert.query.span,
            hint=f"cast all but one: CAST({rowtimes[1]} AS TIMESTAMP(3))",
        )
