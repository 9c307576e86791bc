"""Define what expression rules see of the renderer, and what the renderer sees of its surroundings."""

from __future__ import annotations

from typing import Protocol

from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import Query
from sqlext.types import LogicalType


class Texts(Protocol):
    """Renders the parts of a node."""

    mode: str
    zone: str

    def text(self, node: e.Node) -> str:
        """Return a node as Spark SQL."""

    def verbatim(self, node: e.Node) -> str:
        """Return a node's own text with only its changed children spliced in."""

    def type_of(self, node: e.Node) -> LogicalType | None:
        """Return the type of an expression, None if it is unknown."""

    def atom(self, node: e.Node) -> str:
        """Return a node as text that can stand beside any operator."""


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

    def column(self, ref: e.ColumnRef) -> str | None:
        """Return the text that replaces a column reference, None for its own text."""

    def type_of(self, expr: e.Expr) -> LogicalType | None:
        """Return the type of an expression (usually ``infer`` in the scope's environment)."""

    def query(self, query: Query) -> str:
        """Return the rendered text of a sub-query, without parentheses around it."""

    def replacement(self, node: e.Node) -> str | None:
        """Return the text that replaces a node (PROCTIME(), a grouping key, ...), None for the usual rules."""
