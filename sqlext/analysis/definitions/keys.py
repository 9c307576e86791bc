"""Check PRIMARY KEY and PARTITIONED BY (Flink: SchemaBuilderUtil, DefaultSchemaResolver.validatePrimaryKey)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sqlext.analysis.definitions.columns import find, listed
from sqlext.dialect.ast.statements import ColumnDef, PrimaryKeyDef
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import Span
from sqlext_catalog.model import Column, PrimaryKey


def single(definitions: Sequence[PrimaryKeyDef], columns: Sequence[ColumnDef]) -> PrimaryKeyDef | None:
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
