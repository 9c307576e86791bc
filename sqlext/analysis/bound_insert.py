"""An INSERT that is bound: what fills which column of its sink, and how the rows reach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlext.analysis.scope import Scope
from sqlext.catalog.model import Column, Table
from sqlext.dialect.expression_nodes import Expr
from sqlext.plan.columns import PlanColumn
from sqlext.plan.keys import visible_key
from sqlext.plan.nodes import PlanNode
from sqlext.source import Span

#: How a result reaches its sink: appended, merged by key, or kept and written once at the end.
Mode = Literal["append", "upsert", "final-state"]
APPEND: Mode = "append"
UPSERT: Mode = "upsert"
FINAL_STATE: Mode = "final-state"


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
        late: where the query's late rows go, as an INSERT of its own beside this one; see ``late_tables``.
        bad: where rows go that its sources cannot decode, an INSERT for each table; see ``analysis.bad_rows``.
    """

    table: Table
    plan: PlanNode
    assignments: tuple[Assignment, ...]
    mode: Mode
    overwrite: bool
    span: Span
    scope: Scope
    enforce_not_null: str
    late: BoundInsert | None = None
    bad: tuple[BoundInsert, ...] = ()

    @property
    def merge_keys(self) -> tuple[str, ...]:
        """The sink columns that hold the query's own key, where the sink has no PRIMARY KEY."""
        held = visible_key(self.plan) or ()
        return tuple(a.target.name for a in self.assignments if a.source is not None and a.source.physical in held)
