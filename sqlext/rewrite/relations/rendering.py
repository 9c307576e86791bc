"""Define what a node's text may ask of the renderer of its plan.

``compiler.renderer`` implements it. Features depend on this protocol alone, so the renderer can depend on features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sqlext.dialect.ast.expressions import Expr
from sqlext.plan.nodes import PlanNode
from sqlext.plan.scope import Scope
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.script.begun import Readers
from sqlext.rewrite.script.model import KeptInput, Step, UserTableFunction
from sqlext_catalog.model import Table


class Rendering(Protocol):
    """Renders the plan of one statement, and collects what its script needs besides the text.

    Attributes:
        zone: the session's time zone.
        end: what the end of the input is.
        latest: whether of the panes of a micro-batch only the last is looked at.
        at_once: whether all rows are one batch that needs no state.
        local: whether the query is for this process, without Spark.
        packs: whether rows may be combined where they are read.
        readers: who reads the tables.
        steps: the steps so far.
        kept: the inputs that the time keeper watches.
        table_functions: those of the user that the text calls, by their views.
        read_by_spark: tables that Arrow might have read, each with why Spark reads it.
        used_heartbeat: whether the text reads ``HEARTBEAT_VIEW``.
    """

    zone: str
    end: InputEnd
    latest: bool
    at_once: bool
    local: bool
    packs: bool
    readers: Readers
    steps: list[Step]
    kept: list[KeptInput]
    table_functions: dict[str, UserTableFunction]
    read_by_spark: dict[str, str]
    used_heartbeat: bool

    def tells_time(self, table: Table) -> bool:
        """Whether heartbeats and ticks come with the packed rows of a table, and not from sources of their own."""

    def sql(self, node: PlanNode) -> str:
        """Return a node as a query."""

    def relation(self, node: PlanNode) -> str:
        """Return a node as it stands in FROM."""

    def expr(self, expr: Expr, scope: Scope) -> str:
        """Return an expression as text."""

    def sub_query(self, plan: PlanNode) -> str:
        """Return a sub-query of an expression: a static relation, its columns in the user's types."""

    def add_step(self, step: Callable[[str], Step]) -> str:
        """Add the step that is made with a name of its own; return that name."""
