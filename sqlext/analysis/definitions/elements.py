"""Bind and check what stands between the parentheses of CREATE TABLE: columns, keys, the watermark.

Flink checks the same in SchemaBuilderUtil, MergeTableLikeUtil, and DefaultSchemaResolver (validatePrimaryKey,
resolveWatermarkSpecs). A computed column uses physical and metadata columns alone (case ddl/computed_on_computed). A
watermark is for a column of the top level: TIMESTAMP(p) or TIMESTAMP_LTZ(p), p from 0 to 3, no processing time. Its
expression has the same type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sqlext.analysis.definitions.expressions import Expressions
from sqlext.analysis.scans.timing import is_source_watermark
from sqlext.analysis.types.calls import is_aggregate
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Paren
from sqlext.dialect.ast.statements import ColumnDef, PrimaryKeyDef, WatermarkDef
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, PrimaryKey, Watermark

#: Flink's event time has milliseconds.
_MILLIS = 3


def column_of(definition: ColumnDef, expressions: Expressions) -> Column:
    """Return a column as written; the type of a computed one is not derived yet."""
    comment = definition.comment
    if definition.expression is not None:
        text = expressions.write(definition.expression)
        return Column(definition.name, None, "computed", text, comment=comment)
    if definition.metadata:
        key = definition.metadata_key or definition.name
        return Column(
            definition.name, definition.type, "metadata", metadata_key=key, virtual=definition.virtual, comment=comment
        )
    return Column(definition.name, definition.type, comment=comment)


def columns_of(definitions: Sequence[ColumnDef], expressions: Expressions) -> tuple[Column, ...]:
    """Return the columns of a statement.

    Raises:
        SqlExtError: DDL-001 for two of one name.
    """
    seen: set[str] = set()
    for definition in definitions:
        if definition.name in seen:
            raise SqlExtError("DDL-001", f"there are two columns named `{definition.name}`", span=definition.span)
        seen.add(definition.name)
    return tuple(column_of(d, expressions) for d in definitions)


def typed(columns: Iterable[Column], expressions: Expressions) -> tuple[Column, ...]:
    """Return the columns with the types of the computed ones derived from the others.

    Raises:
        SqlExtError: what is wrong with an expression (see ``Expressions.type_of``).
    """
    known = tuple(columns)
    usable = [c for c in known if c.kind != "computed"]
    computed = {c.name for c in known if c.kind == "computed"}
    return tuple(_typed(c, usable, computed, expressions) if c.kind == "computed" else c for c in known)


def _typed(column: Column, usable: list[Column], computed: set[str], expressions: Expressions) -> Column:
    text = column.expression or ""
    _refuse_computed(column, usable, computed, expressions)
    return replace(column, type=expressions.type_of(text, usable, f"the computed column `{column.name}`"))


def _refuse_computed(column: Column, usable: list[Column], computed: set[str], expressions: Expressions) -> None:
    scope = expressions.scope(usable)
    for node in expressions.node(column.expression or "").walk():
        if isinstance(node, Call) and is_aggregate(node, expressions.mode):
            message = f"`{column.name}` is computed of one row, and {node.name} is of many"
            raise SqlExtError("FUNC-003", message, span=node.span, hint="compute it in a view, with GROUP BY")
        if isinstance(node, Call) and node.over is not None:
            message = f"`{column.name}` is computed of one row, and OVER is of many"
            raise SqlExtError("DDL-006", message, span=node.span, hint="compute it in a view")
        if isinstance(node, ColumnRef) and node.parts[0] in computed and not scope.has(node):
            raise SqlExtError(
                "NAME-003",
                f"`{column.name}` cannot use `{node.parts[0]}`, which is a computed column too",
                span=node.span,
                hint=f"repeat the expression of `{node.parts[0]}`, or compute `{column.name}` in a view",
            )


def find(columns: Iterable[Column], name: str) -> Column | None:
    """Return the column of that name."""
    return next((c for c in columns if c.name == name), None)


def listed(columns: Iterable[Column]) -> str:
    """Return the names for a hint."""
    names = [c.name for c in columns]
    return f"the columns are {', '.join(names)}" if names else "it has no columns"


def single_key(definitions: Sequence[PrimaryKeyDef], columns: Sequence[ColumnDef]) -> PrimaryKeyDef | None:
    """Return the primary key of a statement, declared for the table or at one of its columns, or None.

    Raises:
        SqlExtError: DDL-003 for more than one.
    """
    inline = [PrimaryKeyDef(c.span, (c.name,)) for c in columns if c.inline_primary_key]
    found = sorted((*definitions, *inline), key=lambda d: d.span.start)
    if len(found) > 1:
        raise SqlExtError(
            "DDL-003",
            "a table has one PRIMARY KEY",
            span=found[1].span,
            hint="a key of several columns is PRIMARY KEY (a, b) NOT ENFORCED",
        )
    return found[0] if found else None


def primary_key_of(definition: PrimaryKeyDef, columns: Sequence[Column], own: Collection[str]) -> PrimaryKey:
    """Return a primary key checked against the table's columns.

    Args:
        definition: the key as written.
        columns: all columns of the table.
        own: the columns that the key makes NOT NULL; another that is nullable cannot be in it.

    Raises:
        SqlExtError: DDL-002, DDL-004.
    """
    names = definition.columns
    for i, name in enumerate(names):
        column = find(columns, name)
        if column is None:
            hint = did_you_mean(name, [c.name for c in columns]) or listed(columns)
            raise SqlExtError("DDL-002", f"PRIMARY KEY: there is no column `{name}`", span=definition.span, hint=hint)
        if name in names[:i]:
            raise SqlExtError("DDL-002", f"PRIMARY KEY: `{name}` is named twice", span=definition.span)
        check_key_column(column, definition.span, own)
    # Flink's Schema.Builder.primaryKey makes the same name.
    return PrimaryKey(definition.name or "_".join(("PK", *names)), names)


def check_key_column(column: Column, span: Span, own: Collection[str]) -> None:
    """Check that a column can be part of a primary key.

    Raises:
        SqlExtError: DDL-004.
    """
    if column.kind != "physical":
        message = f"PRIMARY KEY needs physical columns, and `{column.name}` is a {column.kind} column"
        raise SqlExtError("DDL-004", message, span=span)
    if column.type is not None and column.type.nullable and column.name not in own:
        message = f"PRIMARY KEY needs columns that are NOT NULL, and `{column.name}` is nullable"
        raise SqlExtError("DDL-004", message, span=span, hint="declare it NOT NULL where it is defined")


def not_null(columns: Iterable[Column], key: PrimaryKey | None) -> tuple[Column, ...]:
    """Return the columns, those of the key NOT NULL."""
    names = key.columns if key else ()
    return tuple(replace(c, type=c.type.not_null()) if c.type and c.name in names else c for c in columns)


def check_partitions(names: Iterable[str], columns: Sequence[Column], span: Span) -> None:
    """Check the columns of PARTITIONED BY.

    Raises:
        SqlExtError: DDL-005.
    """
    physical = [c for c in columns if c.kind == "physical"]
    for name in names:
        if find(physical, name) is None:
            hint = did_you_mean(name, [c.name for c in physical]) or listed(physical)
            raise SqlExtError("DDL-005", f"PARTITIONED BY: there is no physical column `{name}`", span=span, hint=hint)


def single_watermark(definitions: Sequence[WatermarkDef]) -> WatermarkDef | None:
    """Return the watermark of a statement, or None.

    Raises:
        SqlExtError: TIME-012 for more than one.
    """
    if len(definitions) > 1:
        raise SqlExtError("TIME-012", "a table has one WATERMARK", span=definitions[1].span)
    return definitions[0] if definitions else None


def watermark_of(definition: WatermarkDef, columns: Sequence[Column], expressions: Expressions) -> Watermark:
    """Return a watermark as stored, checked against the columns it may use (their types derived).

    Raises:
        SqlExtError: TIME-010, -011, -013, -014, or what is wrong with its expression.
    """
    name = ".".join(definition.column)
    if len(definition.column) > 1:
        raise SqlExtError(
            "TIME-010",
            f"WATERMARK is for a column of the table, and `{name}` is a field of one",
            span=definition.span,
            hint=f"add a column {definition.column[-1]} AS {name} and declare it for that",
        )
    mark = Watermark(name, expressions.write(definition.expression))
    check_watermark(mark, columns, expressions, definition.span)
    return mark


def check_watermark(mark: Watermark, columns: Sequence[Column], expressions: Expressions, span: Span) -> None:
    """Check a watermark, new or stored, against columns.

    Raises:
        SqlExtError: TIME-010, -011, -013, -014, or what is wrong with its expression.
    """
    column = find(columns, mark.column)
    if column is None:
        hint = did_you_mean(mark.column, [c.name for c in columns]) or listed(columns)
        raise SqlExtError("TIME-010", f"WATERMARK for `{mark.column}`, which is no column here", span=span, hint=hint)
    if column.kind == "computed" and _is_proctime(expressions.node(column.expression or "")):
        raise SqlExtError(
            "TIME-013", f"`{column.name}` is processing time, which has no watermark", span=span, hint="remove it"
        )
    if column.type is not None and not _is_time(column, expressions.mode):
        raise SqlExtError(
            "TIME-011",
            f"WATERMARK needs TIMESTAMP(p) or TIMESTAMP_LTZ(p), p from 0 to 3, and `{column.name}` is {column.type}",
            span=span,
            hint=_type_hint(column),
        )
    # SOURCE_WATERMARK() fits any column here; a source that gives none is refused when it is read (TIME-004).
    if not is_source_watermark(expressions.node(mark.expression)):
        _check_expression(mark, column, columns, expressions)


def _is_proctime(expression: Expr) -> bool:
    while isinstance(expression, Paren):
        expression = expression.operand
    return isinstance(expression, Call) and expression.function == "PROCTIME"


def _is_time(column: Column, mode: str) -> bool:
    type_ = column.type
    if type_ is None or not type_.is_timestamp:
        return False
    # Spark's own functions give microseconds and nothing else; event time is cut to milliseconds anyway.
    return (type_.precision or 0) <= _MILLIS or (mode == "spark" and column.kind == "computed")


def _type_hint(column: Column) -> str:
    type_ = column.type
    if type_ is not None and type_.is_timestamp:
        return f"declare it as {type_.root}(3), or add a column rt AS CAST({column.name} AS {type_.root}(3))"
    integer = type_ is not None and type_.is_integer
    made = f"TO_TIMESTAMP_LTZ({column.name}, 3)" if integer else f"TO_TIMESTAMP({column.name})"
    return f"add a column rt AS {made} and declare the watermark for it"


def _check_expression(mark: Watermark, column: Column, columns: Sequence[Column], expressions: Expressions) -> None:
    type_ = expressions.type_of(mark.expression, columns, f"the watermark of `{mark.column}`")
    if type_ is None or _agrees(type_, column.type, expressions.mode):
        return
    written = expressions.written.get(mark.expression)
    raise SqlExtError(
        "TIME-014",
        f"the watermark of `{mark.column}` must be {column.type or 'a timestamp'} as the column, and is {type_}",
        span=written.span if written else expressions.span,
    )


def _agrees(type_: LogicalType, column: LogicalType | None, mode: str) -> bool:
    if not type_.is_timestamp or (column is not None and type_.root != column.root):
        return False
    return mode == "spark" or (type_.precision or 0) <= _MILLIS
