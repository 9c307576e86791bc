"""Compile the SET of a REPLAY: the columns of a row as it is fed back, over those that it had."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.analysis.inserts.replays import BoundReplay, row_columns, scope_of_changes
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.types.inference import infer
from sqlext.plan.columns import PlanColumn
from sqlext.plan.nodes import PlanNode
from sqlext.quoting import identifier, named, string
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.renderer import cast_to, render
from sqlext.rewrite.script.side_rows import as_json
from sqlext_catalog.model import Table


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """A row as it is fed back, as SQL.

    Attributes:
        columns: what it consists of, each under a name of its own.
        text: the row as JSON, over these.
        missing: the names of columns that are NOT NULL and have no value, over these; an empty text for none.
    """

    columns: tuple[str, ...]
    text: str
    missing: str


def corrected_row(bound: BoundReplay, table: Table, env: Environment) -> CorrectedRow:
    """Return what becomes of the rows of a table."""
    scope = scope_of_changes(table, bound.letters, env)
    changes = {change.column: change.value for change in bound.statement.changes}
    context = ScopeContext(scope, _no_plan)
    columns, shown, missing = [], [], []
    for number, column in enumerate(row_columns(table)):
        text, name, expr = identifier(column.name), f"__set_{number}", changes.get(column.name)
        assert column.type is not None  # only the type of a computed column may be unknown
        if expr is not None:
            text = cast_to(render(expr, context), infer(expr, scope), column.type.as_nullable(), env.mode)
            # A literal may be of another type to Spark: its TIMESTAMP '...' is an instant, and the row would have NULL.
            text = f"CAST({text} AS {column.type.spark()})"
        columns.append(named(text, name))
        shown.append((column.name, PlanColumn(column.name, column.type, name), ""))
        if not column.type.nullable:
            missing.append(f"CASE WHEN {name} IS NULL THEN {string(column.name)} END")
    return CorrectedRow(tuple(columns), as_json(shown, env.zone), f"concat_ws(', ', {', '.join(missing) or 'NULL'})")


def _no_plan(plan: PlanNode) -> str:
    raise TypeError("SET has no sub-query")
