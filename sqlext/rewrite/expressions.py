"""An expression as Spark SQL text: untouched text is copied verbatim, what differs is spliced in."""

from __future__ import annotations

from typing import Protocol

from sqlext.dialect.expression_nodes import Call, ColumnRef, Expr
from sqlext.dialect.query_nodes import Query
from sqlext.types import LogicalType


class RenderContext(Protocol):
    """What an expression's text depends on besides itself.

    Every replacement text returned here must be atomic: a name, a literal, a call, or in parentheses.
    """

    @property
    def mode(self) -> str:
        """``'spark'`` or ``'flink'`` (``SET 'sqlext.expressions'``)."""

    @property
    def zone(self) -> str:
        """The session time zone (``table.local-time-zone``)."""

    def column(self, ref: ColumnRef) -> str | None:
        """Return the text that replaces a column reference, None for its own text."""

    def type_of(self, expr: Expr) -> LogicalType | None:
        """Return the type of an expression (usually ``infer`` in the scope's environment)."""

    def query(self, query: Query) -> str:
        """Return the rendered text of a sub-query, without parentheses around it."""

    def call(self, call: Call) -> str | None:
        """Return the text that replaces a call (TUMBLE_START(...), PROCTIME()), None for the usual rules."""


def render(expr: Expr, context: RenderContext) -> str:
    """Return an expression as Spark SQL; what needs no change is byte-identical to the user's text."""
    raise NotImplementedError


def cast_to(
    sql_text: str, from_: LogicalType | None, to: LogicalType, mode: str, zone: str = "UTC"
) -> str:
    """Return ``sql_text`` converted to a sink column's type, unchanged where it has it already."""
    raise NotImplementedError
