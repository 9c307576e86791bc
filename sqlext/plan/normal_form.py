"""Reduce expressions to a normal form, which is equal for those that mean the same.

Columns stand as their places in the relations, so no alias counts. Fields with their default value are left out: a
field that a later version adds changes nothing for earlier queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from sqlext.dialect.ast.expressions import Binary, Call, Cast, ColumnRef, Expr, Node, Paren
from sqlext.dialect.ast.queries import GroupingSets
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.plan.scope import Scope
from sqlext.secrets import redact
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import Table

#: Fields that say how something was written.
_WRITTEN = {Call: frozenset({"name", "bare"}), Cast: frozenset({"operator"})}

#: Options that say how fast or how often, not what; a query that a bad row made fail may go on without it. What those
#: of time come to, be it by an option, a hint or SET, are parts of their own.
NOT_COMPARED = frozenset(
    {
        "source.monitor-interval",
        "source.path.empty-if-not-exists",
        "maxFilesPerTrigger",
        "maxBytesPerTrigger",
        "maxOffsetsPerTrigger",
        "minOffsetsPerTrigger",
        "maxTriggerDelay",
        "scan.parallelism",
        "sink.parallelism",
        "rows-per-second",
        "ramp-up-time",
        "num-partitions",
        "sqlext.bad-rows",
        "mergeSchema",
        "scan.watermark.idle-timeout",
        "scan.watermark.emit.strategy",
        "scan.watermark.alignment.group",
        "scan.watermark.alignment.max-drift",
        "scan.watermark.alignment.update-interval",
        "sqlext.idle.close-windows",
        "sqlext.watermark.max-future",
        "sqlext.late-rows.table",
    }
)


def expression_form(expr: Expr | GroupingSets | None, scope: Scope) -> Any:
    """Return the normal form of an expression whose names mean what ``scope`` says."""
    return value_form(expr, scope)


#: Whether columns stand as their names instead of their places.
_BY_NAME: ContextVar[bool] = ContextVar("columns by name", default=False)


@contextmanager
def columns_by_name() -> Iterator[None]:
    """Let normal forms have the names of columns in the block: columns that nobody reads then count for nothing."""
    token = _BY_NAME.set(True)
    try:
        yield
    finally:
        _BY_NAME.reset(token)


def names_in(value: Any) -> Iterator[str]:
    """Yield each name and text in a part of a plan: among them are the names of all columns that it reads."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from names_in(one)
    elif is_dataclass(value) and not isinstance(value, (type, Span, Scope, Table)):
        for field in fields(value):
            yield from names_in(getattr(value, field.name))


def column_form(column: PlanColumn | str, columns: Sequence[PlanColumn]) -> int | str:
    """Return a column (or the one held in a physical column) as its place among others, its name if it is none."""
    for place, other in enumerate(columns):
        if isinstance(column, str):
            if other.physical == column:
                return column if _BY_NAME.get() else place
        elif (other.physical, other.part) == (column.physical, column.part):
            return f"{column.physical} {column.part}" if _BY_NAME.get() else place
    return column if isinstance(column, str) else column.name


def value_form(value: Any, scope: Scope | None) -> Any:
    """Return the normal form of anything that stands in a plan."""
    if isinstance(value, Paren):
        return value_form(value.operand, scope)
    if isinstance(value, ColumnRef):
        return _reference(value, scope)
    if isinstance(value, LogicalType):
        return f"{value.flink()}{'' if value.nullable else ' NOT NULL'}"
    if isinstance(value, Span):
        return value.one_line
    if isinstance(value, (tuple, list)):
        return tuple(value_form(v, scope) for v in value)
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value, scope)
    return value


def condition_parts(name: str, condition: Expr | None, scope: Scope) -> Iterator[tuple[str, str, object]]:
    """Yield name, text and normal form of a condition, if there is one."""
    if condition is not None:
        yield name, condition.span.one_line, expression_form(condition, scope)


def option_parts(role: str, table: Table) -> Iterator[tuple[str, str, object]]:
    """Yield name and text of each option of a table that says what it gives or takes; the text is the form too."""
    for key, value in sorted(redact(table.options)):
        if key not in NOT_COMPARED:
            yield f"{role} option '{key}'", value, value


def _reference(ref: ColumnRef, scope: Scope | None) -> Any:
    try:
        found = scope.find(ref) if scope is not None else None
    except SqlExtError:  # the parameter of a lambda, or a name inside a sub-query
        found = None
    if scope is None or found is None:
        return ("name", *ref.parts)
    return (
        "column",
        scope.relations.index(found.relation),
        column_form(found.column, found.relation.columns),
        found.path,
    )


def _fields(value: Any, scope: Scope | None) -> Any:
    kind = type(value)
    left_out = next((names for of, names in _WRITTEN.items() if kind is of), frozenset[str]())
    form: list[Any] = [kind.__name__]
    if isinstance(value, Call):
        form.append(value.function)
    for field in fields(value):
        own = getattr(value, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if field.name in left_out or (isinstance(value, Node) and _is_place(field.name)) or own == default:
            continue
        if isinstance(value, Binary) and own == "!=":
            own = "<>"
        form.append((field.name, value_form(own, scope)))
    return tuple(form)


def _is_place(name: str) -> bool:
    """Whether a field of a node says where it stands in the text."""
    return name == "span" or name.endswith("_span")
