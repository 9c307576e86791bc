"""Resolve columns, types and sub-queries of expressions within one scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sqlext.analysis.types.inference import TypeInference
from sqlext.dialect.ast.expressions import Call, ColumnRef, Expr, Node, Parameter
from sqlext.dialect.ast.queries import Query
from sqlext.errors import SqlExtError
from sqlext.plan.columns import Part
from sqlext.plan.nodes import PlanNode
from sqlext.plan.scope import Scope
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.columns import value
from sqlext.rewrite.expressions.renderer import render
from sqlext.types import LogicalType


@dataclass(frozen=True)
class ScopeContext:
    """Implements ``sqlext.rewrite.expressions.protocols.RenderContext`` for one scope."""

    scope: Scope
    render_plan: Callable[[PlanNode], str]

    @property
    def mode(self) -> str:
        """``spark`` or ``flink``."""
        return self.scope.mode

    @property
    def zone(self) -> str:
        """The session's time zone."""
        return self.scope.zone

    def column(self, ref: ColumnRef) -> str | None:
        """Return the text that replaces a reference; None where the user's own text finds the column."""
        found = self.scope.find(ref)
        column, alias = found.column, found.relation.alias
        own = (*((alias,) if alias else ()), column.physical, *found.path)
        # A bare name is enough where no other relation has that physical column.
        shorter = own[1:] if alias and not found.relation.shares(column, self.scope.relations) else own
        if column.part is Part.VALUE and ref.parts in (own, shorter) and _names_it(ref, column.name):
            return None
        path = "".join(f".{identifier(p)}" for p in found.path)
        return value(column, self.zone, alias) + path

    def type_of(self, expr: Expr) -> LogicalType | None:
        """Return the type of an expression; each node's is found once."""
        return self._types.type_of(expr)

    @cached_property
    def _types(self) -> TypeInference:
        return TypeInference(self.scope)

    def query(self, query: Query) -> str:
        """Return the text of a sub-query."""
        if self.scope.bind is None:
            raise SqlExtError("NAME-012", "a sub-query cannot stand here", span=query.span)
        return self.render_plan(self.scope.bind(query))

    def replacement(self, node: Node) -> str | None:
        """Return the text that replaces a node, None for the usual rules."""
        if isinstance(node, Parameter):
            return self._parameter(node.name.lower())
        return self.call(node) if isinstance(node, Call) else None

    def _parameter(self, name: str) -> str | None:
        """Return a free name for the parameter of a lambda that has a column's: grouped, Spark takes it for that."""
        columns = (column for relation in self.scope.relations for column in relation.columns)
        taken = any(name in (column.name.lower(), column.physical.lower()) for column in columns)
        return identifier(f"__{name}") if taken else None

    def call(self, call: Call) -> str | None:
        """Return what replaces a call.

        PROCTIME() is the clock of the micro-batch. GROUPING_ID(a, b) is put together from GROUPING: Spark's wants
        all grouping columns, the window among them.
        """
        if call.function == "PROCTIME":
            return "current_timestamp()"
        if call.function == "GROUPING_ID" and call.args:
            bits = [f"CAST(grouping({render(a, self)}) AS BIGINT)" for a in call.args if isinstance(a, Expr)]
            shifted = [f"shiftleft({b}, {len(bits) - 1 - i})" for i, b in enumerate(bits)]
            return f"({' + '.join(shifted)})"
        return None


def _names_it(ref: ColumnRef, name: str) -> bool:
    """Whether the reference's own text is what the expression was parsed from (no substituted column)."""
    return name in ref.parts and name.lower() in ref.span.text.replace("``", "`").lower()
