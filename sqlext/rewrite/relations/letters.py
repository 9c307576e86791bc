"""Render SELECT whose failing rows are dead letters: they come beside its own, in a hidden column."""

from __future__ import annotations

from sqlext.analysis.inserts.sides import tables_of
from sqlext.plan.bad_rows import BAD, READ_ROW
from sqlext.plan.columns import Part, PlanColumn
from sqlext.plan.nodes import Aliased, Project
from sqlext.quoting import identifier
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.guarded import SafeContext, first_of, reason
from sqlext.rewrite.expressions.renderer import render
from sqlext.rewrite.relations.rendering import Rendering
from sqlext.rewrite.script.side_rows import as_json, expression_letter, no_letter

#: Why a row fails at a step, beside its columns.
WHY = "__why"


def guarded_input(node: Project, renderer: Rendering) -> str:
    """Return the input of a SELECT as it stands in FROM, with ``BAD`` of its rows and of those that fail in it.

    Whichever step fails, the row of a dead letter is that of the table: so it can be fed back. The first step makes a
    text of it, and the steps between hand that on.
    """
    source = renderer.relation(node.input)
    alias = f" AS {identifier(node.input.alias)}" if isinstance(node.input, Aliased) else ""
    carried, why = BAD in node.input.hidden, _why(node, renderer)
    text = READ_ROW if carried else row_text([c for r in node.scope.relations for c in r.columns], renderer.zone)
    read = f", {text} AS {READ_ROW}" if node.carries_row and not carried else ""
    if why is None:
        return source if carried else f"(SELECT *{read}, {no_letter()} AS {BAD} FROM {source}){alias}"
    letter = expression_letter(WHY, text, tables_of(node), "Project", "expression")
    own, others = (f"coalesce({BAD}, {letter})", f"{WHY}, {BAD}") if carried else (letter, WHY)
    judged = f"SELECT *, {why} AS {WHY} FROM {source}"
    return f"(SELECT * EXCEPT ({others}){read}, {own} AS {BAD} FROM ({judged})){alias}"


def safe(node: Project, renderer: Rendering) -> SafeContext:
    """Return the context in which the expressions of a SELECT give NULL where they fail."""
    return SafeContext(ScopeContext(node.scope, renderer.sub_query))


def row_text(columns: list[PlanColumn] | tuple[PlanColumn, ...], zone: str) -> str:
    """Return a row as a step gets it, as JSON."""
    return as_json([(c.name, c, "") for c in columns if c.physical and c.part is not Part.PROCTIME], zone)


def _why(node: Project, renderer: Rendering) -> str | None:
    """Return why a row fails: by WHERE, or by an item if WHERE holds for it."""
    context = ScopeContext(node.scope, renderer.sub_query)
    found = first_of(reason(o.expr, context) for o in node.outputs if o.expr is not None)
    if node.where is None:
        return found
    held = f"CASE WHEN {render(node.where, SafeContext(context))} THEN {found} END" if found is not None else None
    return first_of([reason(node.where, context), held])
