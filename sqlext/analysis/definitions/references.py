"""Find what in a table uses a column: then it can be neither dropped nor renamed (Flink: ReferencesManager)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlext.analysis.definitions.expressions import Expressions
from sqlext.errors import SqlExtError
from sqlext_catalog.model import Table


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
