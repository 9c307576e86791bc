"""The result of binding an INSERT: its assignments, and how its rows reach the sink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlext.analysis.names.environment import Environment
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.expressions import Expr
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import PlanNode
from sqlext.plan.panes import visible_key
from sqlext.plan.scope import Scope
from sqlext.source import Span
from sqlext_catalog.model import Column, Table

#: How a result reaches its sink: appended, merged by key, or kept and written once at the end.
Mode = Literal["append", "upsert", "final-state"]
APPEND: Mode = "append"
UPSERT: Mode = "upsert"
FINAL_STATE: Mode = "final-state"

#: Rows that come beside those of a query: too late for it, or not decoded by its sources.
Side = Literal["late", "bad"]
LATE_ROWS: Side = "late"
BAD_ROWS: Side = "bad"


@dataclass(frozen=True)
class Assignment:
    """A sink column and what fills it: a query column, a constant of PARTITION, or nothing (NULL)."""

    target: Column
    source: PlanColumn | None = None
    constant: Expr | None = None


@dataclass(frozen=True)
class BoundInsert:
    """An INSERT, bound.

    Attributes:
        sides: the INSERTs beside this one, of late and of bad rows; see ``side_inserts``.
        side: which of these this one is, None for that of the query's own rows.
        letters: whether its rows are dead letters.
        refused_of: where it also takes the rows that the query's sink refuses: the tables that these are of.
    """

    table: Table
    plan: PlanNode
    assignments: tuple[Assignment, ...]
    mode: Mode
    overwrite: bool
    span: Span
    scope: Scope
    enforce_not_null: str
    sides: tuple[BoundInsert, ...] = ()
    side: Side | None = None
    letters: bool = False
    refused_of: str = ""

    @property
    def merge_keys(self) -> tuple[str, ...]:
        """The sink columns that hold the query's own key, where the sink has no PRIMARY KEY."""
        held = visible_key(self.plan) or ()
        return tuple(a.target.name for a in self.assignments if a.source is not None and a.source.physical in held)


def side_insert(
    side: Side, table: Table, plan: PlanNode, assignments: tuple[Assignment, ...], span: Span, env: Environment
) -> BoundInsert:
    """Return the INSERT of rows that come beside those of a query."""
    mode = UPSERT if connector_of(table).merges(table) else APPEND
    enforcer = env.settings.get("table.exec.sink.not-null-enforcer") or "error"
    scope = Scope((), env.mode, env.zone)
    return BoundInsert(table, plan, assignments, mode, False, span, scope, enforcer, side=side)
