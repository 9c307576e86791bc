"""The protocol between features and the binder: bind the queries, relations and SELECTs inside a clause.

``selects.queries`` implements ``Binding`` and hands it to each feature, so no feature imports the binder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import Alias, Hint, Query, Relation, Select
from sqlext.plan.nodes import Aliased, PlanNode
from sqlext.plan.scope import Scope, ScopeRelation
from sqlext.source import Span


@dataclass(frozen=True, slots=True)
class Block:
    """A SELECT over rows that are bound.

    Each step of ``selects.blocks`` returns another block: a part of the SELECT has become a node below it.

    Attributes:
        select: what is still to be bound; its FROM is done.
        node: the rows that it reads.
        scope: what its names mean.
    """

    select: Select
    node: PlanNode
    scope: Scope


class Binding(Protocol):
    """Binds queries in one environment."""

    @property
    def env(self) -> Environment:
        """The catalog, the settings and the tables that names are looked up in."""

    def bind(self, query: Query) -> PlanNode:
        """Return the plan of a query.

        Raises:
            SqlExtError: whatever is wrong with it, at its position.
        """

    def bind_inside(self, query: Query) -> PlanNode:
        """Return the plan of a sub-query of an expression, the same one however often it is asked for."""

    def bind_block(self, block: Block) -> PlanNode:
        """Return the plan of a SELECT whose FROM is bound."""

    def bind_cte(self, name: str) -> PlanNode | None:
        """Return the plan of a CTE of that name, or None."""

    def bind_view(self, query: Query, env: Environment) -> PlanNode:
        """Return the plan of a view's query: no CTE of this query is visible there."""

    def from_clause(self, select: Select | None = None) -> FromClause:
        """Return an empty FROM clause, of ``select`` where there is one."""


class FromClause(Protocol):
    """The relations of one FROM clause, while they are bound from left to right.

    Attributes:
        relations: those that are bound; joins replace them by what they give.
        where: the WHERE of its SELECT, which joins of streams look at.
        kept: names that joins of streams must keep, beside those that stand in the SELECT.
    """

    relations: list[ScopeRelation]
    where: Expr | None
    kept: frozenset[str]

    @property
    def binding(self) -> Binding:
        """The binder of the queries inside the clause."""

    @property
    def env(self) -> Environment:
        """That of ``binding``."""

    @property
    def select(self) -> Select | None:
        """The SELECT that the clause is of, None for a single relation."""

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The hints of its SELECT."""

    def bind(self, relation: Relation) -> PlanNode:
        """Return the plan of a relation; its names are added to ``relations``.

        Raises:
            SqlExtError: NAME-002 for an unknown table, and what the parts raise.
        """

    def scope(self) -> Scope:
        """Return the scope of what was bound so far."""

    def aliased(self, node: PlanNode, alias: Alias | None, qualifier: tuple[str, ...], span: Span) -> Aliased:
        """Return a relation under a name of its own, and add it to ``relations``.

        Raises:
            SqlExtError: NAME-006 for a name that another has, NAME-007 for too many column names.
        """
