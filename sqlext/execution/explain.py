"""EXPLAIN: what a statement would do, without doing it."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.bound_insert import FINAL_STATE, UPSERT, BoundInsert
from sqlext.analysis.emit_rules import period_notes
from sqlext.analysis.environment import Environment
from sqlext.analysis.inserts import bind_insert
from sqlext.analysis.late_inserts import late_insert
from sqlext.analysis.queries import QueryBinder
from sqlext.dialect import statement_nodes as ast
from sqlext.errors import SqlExtError
from sqlext.execution.result import Result
from sqlext.plan.explain import as_json, as_mermaid, as_text
from sqlext.plan.nodes import Aggregate, PlanNode
from sqlext.plan.panes import has_clause
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler import script_of
from sqlext.rewrite.inserts import insert_script
from sqlext.rewrite.layout import layout
from sqlext.rewrite.script import SparkScript

_WRITERS = {"JSON": as_json, "JSON_EXECUTION_PLAN": as_json, "MERMAID": as_mermaid}


def explain_statement(statement: ast.Explain, env: Environment, interval: int | None = None) -> Result:
    """Return the plans of a statement and the Spark SQL they become, as one row of text.

    Args:
        interval: ms between the micro-batches of unbounded queries, where it is given.

    Raises:
        SqlExtError: DDL-040 for a statement that reads nothing.
    """
    detail = next((d for d in statement.details if d in _WRITERS), "TEXT")
    texts = [explained(_noted(plan, interval), made, detail, insert) for plan, made, insert in _plans(statement, env)]
    return Result(("result",), [("\n\n".join(texts),)])


def explained(plan: PlanNode, script: SparkScript, detail: str, insert: BoundInsert | None) -> str:
    """Return one plan in the asked-for form; text has below the tree who reads the tables, and the rewritten SQL."""
    writer, reach = _WRITERS.get(detail), _reach(plan, insert)
    if writer:
        return writer(plan, reach)
    read = "".join(f"\n  {line}" for line in script.reading)
    parts = [as_text(plan, reach), *([f"Sources:{read}"] if read else []), f"Spark SQL:\n{layout(script.query)}"]
    return "\n\n".join(parts)


def _plans(explain: ast.Explain, env: Environment) -> list[tuple[PlanNode, SparkScript, BoundInsert | None]]:
    statement = explain.statement
    if isinstance(statement, ast.SelectStatement):
        plan = QueryBinder(env).bind_whole(statement.query)
        late_insert(plan, env)
        return [(plan, script_of(plan, env, end=InputEnd.CATCH_UP), None)]
    inserts = statement.inserts if isinstance(statement, ast.StatementSet) else (statement,)
    plans: list[tuple[PlanNode, SparkScript, BoundInsert | None]] = []
    for insert in inserts:
        if not isinstance(insert, ast.Insert):
            raise SqlExtError("DDL-040", "EXPLAIN takes a query or an INSERT", span=statement.span)
        bound = bind_insert(insert, env)
        plans.append((bound.plan, insert_script(bound, env, end=InputEnd.CATCH_UP), bound))
    return plans


def _reach(plan: PlanNode, insert: BoundInsert | None) -> str:
    """Say how the rows of a plan reach who takes them."""
    if insert is None:
        return "shown" if has_clause(plan) or not plan.updating else "shown, the current row of each key"
    table = f"{insert.table.name.name} ({insert.table.option('connector')})"
    if insert.mode == UPSERT:
        key = insert.table.primary_key.columns if insert.table.primary_key else insert.merge_keys
        return f"{table}, merged by {', '.join(key)}"
    if insert.mode == FINAL_STATE:
        return f"{table}, folded by key and written at the end"
    return f"{table}, as they come" if plan.updating else f"{table}, appended"


def _noted(plan: PlanNode, interval: int | None) -> PlanNode:
    """Return a plan whose groupings say where micro-batches come less often than they want to fire."""

    def rule(node: PlanNode) -> PlanNode:
        if interval is None or not isinstance(node, Aggregate) or node.firing is None:
            return node
        notes = (*node.firing.notes, *period_notes(node.firing.policy, interval))
        return replace(node, firing=replace(node.firing, notes=notes))

    return plan.transform(rule)
