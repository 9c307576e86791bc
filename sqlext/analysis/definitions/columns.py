"""Bind column definitions, and infer the types of computed columns.

Flink validates a computed column against the physical and metadata columns alone (MergeTableLikeUtil, case
ddl/computed_on_computed): one computed column cannot use another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlext.analysis.definitions.expressions import Expressions
from sqlext.dialect.ast.expressions import ColumnRef
from sqlext.dialect.ast.statements import ColumnDef
from sqlext.errors import SqlExtError
from sqlext_catalog.model import Column


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
