"""Parse and check the expressions of a table's definition, new ones and stored ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlext.analysis.types.inference import infer
from sqlext.dialect.ast.expressions import ColumnRef, Exists, Expr, InQuery, ScalarQuery
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.source import Span
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, Table

_SUB_QUERIES = (Exists, InQuery, ScalarQuery)


@dataclass(frozen=True)
class Expressions:
    """Reads expressions in the meaning of one table, and knows where an error in one belongs.

    Attributes:
        table: the table's last name, which may qualify its columns.
        mode: ``spark`` or ``flink``: whose meaning they have.
        zone: the session's time zone.
        span: where an error belongs that lies in a stored text.
        written: what the statement itself wrote, by its text; its errors keep their own place.
    """

    table: str
    mode: str
    zone: str
    span: Span
    written: dict[str, Expr] = field(default_factory=dict)

    def write(self, expression: Expr) -> str:
        """Return an expression's text, as it is stored."""
        self.written[expression.span.text] = expression
        return expression.span.text

    def node(self, text: str) -> Expr:
        """Return the node behind a stored text."""
        return self.written.get(text) or parse_expression_text(text, self.mode, f"table {self.table}")

    def type_of(self, text: str, columns: Iterable[Column], what: str) -> LogicalType | None:
        """Return the type of an expression over columns, None if unknown.

        Raises:
            SqlExtError: DDL-006 for a sub-query, NAME-003 for an unknown column, TYPE-... as ``infer``;
                DDL-007 in their place if it is not this statement that wrote the expression.
        """
        scope = self.scope(columns)
        expression = self.node(text)
        try:
            self._check(expression, scope, what)
            return infer(expression, scope)
        except SqlExtError as error:
            # The same text may stand in an older part of the table; its error is shown where it was just written.
            if text in self.written:
                raise
            raise SqlExtError("DDL-007", f"{what} becomes invalid: {error.message}", span=self.span) from error

    def scope(self, columns: Iterable[Column]) -> Scope:
        """Return the scope of expressions over columns."""
        # No column is a time attribute here: a watermark or a computed column sees plain values.
        visible = tuple(PlanColumn(c.name, c.type, c.name) for c in columns)
        return Scope((ScopeRelation("", (self.table,), visible),), self.mode, self.zone)

    def references(self, text: str, columns: Iterable[Column]) -> set[str]:
        """Return the names of the columns that an expression uses."""
        scope = self.scope(columns)
        found = (n for n in self.node(text).walk() if isinstance(n, ColumnRef) and scope.has(n))
        return {scope.find(ref).column.name for ref in found}

    def _check(self, expression: Expr, scope: Scope, what: str) -> None:
        nodes = list(expression.walk())
        for node in nodes:
            if isinstance(node, _SUB_QUERIES):
                raise SqlExtError("DDL-006", f"{what} cannot have a sub-query", span=node.span)
        for node in nodes:
            if isinstance(node, ColumnRef):
                scope.find(node)


def expressions_of(table: Table, zone: str, span: Span) -> Expressions:
    """Return the reader of a stored table's expressions."""
    return Expressions(table.name.name, table.expressions, zone, span)
