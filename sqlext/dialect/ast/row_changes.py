"""Define what UPDATE, DELETE and MERGE say about rows that are there."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.dialect.ast.expressions import ColumnRef, Expr, Node
from sqlext.dialect.ast.queries import Relation
from sqlext.source import Span


@dataclass(frozen=True, slots=True)
class Assigned(Node):
    """``column = value``."""

    column: ColumnRef
    value: Expr


@dataclass(frozen=True, slots=True)
class Inserted(Node):
    """``(columns) VALUES (values)``."""

    columns: tuple[ColumnRef, ...]
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class AllColumns(Node):
    """``*`` of UPDATE SET and INSERT: each column gets the source's of that name."""


@dataclass(frozen=True, slots=True)
class WhenClause:
    """``WHEN ... [AND condition] THEN ...``; all of what an UPDATE or a DELETE does, too.

    Attributes:
        sees_target: whether names may mean columns of the rows that are there.
        sees_source: whether they may mean columns of MERGE's source.
        does: what is done with columns; nothing for DELETE.
    """

    sees_target: bool
    sees_source: bool
    condition: Expr | None
    does: tuple[Assigned | Inserted | AllColumns, ...] = ()


@dataclass(frozen=True, slots=True)
class RowChange:
    """``UPDATE t ...``, ``DELETE FROM t ...`` or ``MERGE INTO t USING source ON condition ...``.

    Attributes:
        target: the table's name as written.
        alias: the only name that the statement has for it, None where it is the table's own.
        source: of MERGE alone.
        condition: of WHERE and of ON.
        evolves: whether MERGE may give the table new columns.
    """

    target: tuple[str, ...]
    target_span: Span
    alias: str | None
    source: Relation | None
    condition: Expr | None
    clauses: tuple[WhenClause, ...]
    evolves: bool = False
