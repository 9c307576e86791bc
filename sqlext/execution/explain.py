"""EXPLAIN: what a statement would do, without doing it."""

from __future__ import annotations

from sqlext.analysis.environment import Environment
from sqlext.analysis.inserts import bind_insert
from sqlext.analysis.queries import QueryBinder
from sqlext.dialect import statement_nodes as ast
from sqlext.errors import SqlExtError
from sqlext.execution.result import Result
from sqlext.plan.explain import as_json, as_mermaid, as_text
from sqlext.plan.nodes import PlanNode
from sqlext.rewrite.compiler import script_of
from sqlext.rewrite.inserts import insert_script
from sqlext.rewrite.layout import layout

_WRITERS = {"JSON": as_json, "JSON_EXECUTION_PLAN": as_json, "MERMAID": as_mermaid}


def explain_statement(statement: ast.Explain, env: Environment) -> Result:
    """Return the plans of a statement and the Spark SQL they become, as one row of text.

    Raises:
        SqlExtError: DDL-040 for a statement that reads nothing.
    """
    detail = next((d for d in statement.details if d in _WRITERS), "TEXT")
    texts = [explained(plan, sql, detail) for plan, sql in _plans(statement.statement, env)]
    return Result(("result",), [("\n\n".join(texts),)])


def explained(plan: PlanNode, sql: str, detail: str) -> str:
    """Return one plan in the asked-for form; text has the rewritten SQL below the tree."""
    writer = _WRITERS.get(detail)
    return writer(plan) if writer else f"{as_text(plan)}\n\nSpark SQL:\n{layout(sql)}"


def _plans(statement: ast.Statement, env: Environment) -> list[tuple[PlanNode, str]]:
    if isinstance(statement, ast.SelectStatement):
        plan = QueryBinder(env).bind(statement.query)
        return [(plan, script_of(plan, env, heartbeat=False).query)]
    inserts = statement.inserts if isinstance(statement, ast.StatementSet) else (statement,)
    plans = []
    for insert in inserts:
        if not isinstance(insert, ast.Insert):
            raise SqlExtError("DDL-040", "EXPLAIN takes a query or an INSERT", span=statement.span)
        bound = bind_insert(insert, env)
        plans.append((bound.plan, insert_script(bound, env, heartbeat=False).query))
    return plans
