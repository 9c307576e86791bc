"""Bind ALTER TABLE to a function from the old table to the new one.

ADD, MODIFY, DROP and RENAME of columns, WATERMARK and PRIMARY KEY follow Flink's AlterSchemaConverter. Each change
derives anew the types of computed columns, the watermark and the key. ``sqlext_catalog.ddl`` renames tables, and
does SET and RESET of options.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from sqlext.analysis.definitions.elements import (
    check_key_column,
    check_partitions,
    check_watermark,
    column_of,
    columns_of,
    find,
    listed,
    not_null,
    primary_key_of,
    single_key,
    single_watermark,
    typed,
    watermark_of,
)
from sqlext.analysis.definitions.expressions import Expressions, expressions_of
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast.statements import AlterTable, ColumnDef
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import Span
from sqlext_catalog.model import Column, PrimaryKey, Table
from sqlext_catalog.session_catalog import SessionCatalog

_Change = Callable[[AlterTable, Table, Expressions], Table]


def alteration_of(statement: AlterTable, env: Environment, catalog: SessionCatalog) -> Callable[[Table], Table]:
    """Return what an ALTER TABLE makes of a table; it looks at nothing but its argument.

    The function raises ``SqlExtError`` (DDL-030 to DDL-032, and the codes of CREATE TABLE) if the table is not such
    that the change can be made. Expressions are read in the meaning that the table was created with.
    """
    # The catalog calls the function again on the newer table if another process committed first.
    change = _CHANGES[statement.action]

    def alter(table: Table) -> Table:
        expressions = expressions_of(table, env.zone, statement.span)
        return _checked(change(statement, table, expressions), expressions)

    return alter


def _add(statement: AlterTable, table: Table, expressions: Expressions) -> Table:
    added = columns_of(statement.columns, expressions)
    columns = list(table.columns)
    for definition, column, position in zip(statement.columns, added, statement.positions, strict=True):
        if find(table.columns, column.name) is not None:
            message = f"`{table.name.name}` has a column `{column.name}` already"
            hint = "ALTER TABLE ... MODIFY changes it"
            raise SqlExtError("DDL-031", message, span=definition.span, hint=hint)
        # One by one, as AFTER may name a column that the same statement adds.
        columns.insert(_place(columns, position, definition, len(columns)), column)
    if statement.watermarks and table.watermark is not None:
        message = f"`{table.name.name}` has a watermark already, for `{table.watermark.column}`"
        hint = "ALTER TABLE ... MODIFY WATERMARK changes it"
        raise SqlExtError("DDL-031", message, span=statement.watermarks[0].span, hint=hint)
    if table.primary_key is not None and (key := single_key(statement.primary_keys, statement.columns)):
        message = f"`{table.name.name}` has a primary key already: {', '.join(table.primary_key.columns)}"
        raise SqlExtError("DDL-031", message, span=key.span, hint="ALTER TABLE ... DROP PRIMARY KEY first")
    return _with_marks(statement, replace(table, columns=tuple(columns)), expressions)


def _modify(statement: AlterTable, table: Table, expressions: Expressions) -> Table:
    columns_of(statement.columns, expressions)  # refuses a column named twice
    columns = list(table.columns)
    for definition, position in zip(statement.columns, statement.positions, strict=True):
        old = find(columns, definition.name)
        if old is None:
            raise _missing(table, definition.name, definition.span)
        new = column_of(definition, expressions)
        new = replace(new, comment=old.comment if new.comment is None else new.comment)
        at = columns.index(old)
        # Taken out first: FIRST and AFTER place it among the others.
        columns.pop(at)
        columns.insert(_place(columns, position, definition, at), new)
    if statement.watermarks and table.watermark is None:
        raise _nothing(table, "watermark", statement.watermarks[0].span, "ALTER TABLE ... ADD WATERMARK makes one")
    key = single_key(statement.primary_keys, statement.columns)
    if key is not None and table.primary_key is None:
        raise _nothing(table, "primary key", key.span, "ALTER TABLE ... ADD PRIMARY KEY makes one")
    return _with_marks(statement, replace(table, columns=tuple(columns)), expressions)


def _with_marks(statement: AlterTable, table: Table, expressions: Expressions) -> Table:
    """Return the table with the watermark and the key of the statement, where it has any."""
    table = replace(table, columns=typed(table.columns, expressions))
    definition = single_key(statement.primary_keys, statement.columns)
    if definition is not None:
        # A key that is added makes its columns NOT NULL, so none of them is too nullable for it.
        every = {c.name for c in table.columns}
        table = replace(table, primary_key=primary_key_of(definition, table.columns, every))
    mark = single_watermark(statement.watermarks)
    if mark is not None:
        table = replace(table, watermark=watermark_of(mark, table.columns, expressions))
    return table


def _place(columns: Sequence[Column], position: str | None, definition: ColumnDef, default: int) -> int:
    """Return where a column goes: FIRST, after another, or where it would be anyway."""
    if position is None:
        return default
    if position == "FIRST":
        return 0
    after = find(columns, position)
    if after is None:
        hint = did_you_mean(position, [c.name for c in columns]) or listed(columns)
        message = f"AFTER `{position}`: there is no such column"
        raise SqlExtError("DDL-030", message, span=definition.span, hint=hint)
    return list(columns).index(after) + 1


def _drop(statement: AlterTable, table: Table, expressions: Expressions) -> Table:
    names = statement.names
    for i, (name, place) in enumerate(zip(names, statement.name_spans, strict=True)):
        if find(table.columns, name) is None:
            raise _missing(table, name, place)
        if name in names[:i]:
            raise SqlExtError("DDL-030", f"column `{name}` is named twice", span=place, hint="name it once")
        refuse_used(table, name, expressions, gone=names)
    return replace(table, columns=tuple(c for c in table.columns if c.name not in names))


def _rename_column(statement: AlterTable, table: Table, expressions: Expressions) -> Table:
    old, new = statement.names
    if find(table.columns, old) is None:
        raise _missing(table, old, statement.name_spans[0])
    if find(table.columns, new) is not None:
        message = f"`{table.name.name}` has a column `{new}` already"
        raise SqlExtError("DDL-031", message, span=statement.name_spans[1], hint="choose another name")
    refuse_used(table, old, expressions, keys_too=False)
    columns = tuple(replace(c, name=new) if c.name == old else c for c in table.columns)
    key = table.primary_key
    if key is not None:
        key = replace(key, columns=tuple(new if c == old else c for c in key.columns))
    return replace(table, columns=columns, primary_key=key)


def _drop_watermark(statement: AlterTable, table: Table, expressions: Expressions) -> Table:
    if table.watermark is None:
        raise _nothing(table, "watermark", statement.span)
    return replace(table, watermark=None)


def _drop_primary_key(statement: AlterTable, table: Table, expressions: Expressions) -> Table:
    key = _required_key(statement, table)
    if statement.names and statement.names[0] != key.name:
        message = f"`{table.name.name}` has no constraint `{statement.names[0]}`"
        raise SqlExtError("DDL-030", message, span=statement.span, hint=f"its primary key is named `{key.name}`")
    # The columns stay NOT NULL, as in Flink (statements/describe_pk_sink).
    return replace(table, primary_key=None)


def _required_key(statement: AlterTable, table: Table) -> PrimaryKey:
    if table.primary_key is None:
        raise _nothing(table, "primary key", statement.span)
    return table.primary_key


def _checked(table: Table, expressions: Expressions) -> Table:
    """Return the table with everything derived anew.

    Raises:
        SqlExtError: if the change makes a part of it invalid that it does not mention.
    """
    columns = typed(not_null(table.columns, table.primary_key), expressions)
    if table.primary_key is not None:
        for name in table.primary_key.columns:
            column = find(columns, name)
            if column is not None:
                check_key_column(column, expressions.span, own=(name,))
    check_partitions(table.partitioned_by, columns, expressions.span)
    if table.watermark is not None:
        check_watermark(table.watermark, columns, expressions, expressions.span)
    return replace(table, columns=columns)


def _missing(table: Table, name: str, span: Span) -> SqlExtError:
    hint = did_you_mean(name, [c.name for c in table.columns]) or listed(table.columns)
    return SqlExtError("DDL-030", f"`{table.name.name}` has no column `{name}`", span=span, hint=hint)


def _nothing(table: Table, what: str, span: Span, hint: str | None = None) -> SqlExtError:
    return SqlExtError("DDL-030", f"`{table.name.name}` has no {what}", span=span, hint=hint)


_CHANGES: dict[str, _Change] = {
    "ADD": _add,
    "MODIFY": _modify,
    "DROP": _drop,
    "RENAME COLUMN": _rename_column,
    "DROP WATERMARK": _drop_watermark,
    "DROP PRIMARY KEY": _drop_primary_key,
    "DROP CONSTRAINT": _drop_primary_key,
}


def refuse_used(
    table: Table, name: str, expressions: Expressions, *, gone: Collection[str] = (), keys_too: bool = True
) -> None:
    """Refuse to change a column that another part of its table uses.

    Args:
        table: the table.
        name: the column.
        expressions: reads the table's expressions.
        gone: columns that are dropped by the same statement: what they use does not count.
        keys_too: whether the primary key counts (a rename carries it along).

    Raises:
        SqlExtError: DDL-032.
    """
    user = next(_users(table, name, expressions, gone, keys_too), None)
    if user is not None:
        raise SqlExtError("DDL-032", f"column `{name}` is used by {user}", span=expressions.span)


def _users(table: Table, name: str, expressions: Expressions, gone: Collection[str], keys_too: bool) -> Iterator[str]:
    others = [c for c in table.columns if c.name != name and c.name not in gone]
    for column in others:
        if column.expression is not None and name in expressions.references(column.expression, table.columns):
            yield f"the computed column `{column.name}`"
    if name in table.partitioned_by:
        yield "PARTITIONED BY"
    if keys_too and table.primary_key is not None and name in table.primary_key.columns:
        yield "the primary key"
    mark = table.watermark
    if mark is not None and name in {mark.column, *expressions.references(mark.expression, table.columns)}:
        yield "the watermark"
