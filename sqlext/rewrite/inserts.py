"""An INSERT as a Spark script: the query's columns converted to the sink's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.bad_rows import bad_scans
from sqlext.analysis.bound_insert import APPEND, Assignment, BoundInsert
from sqlext.analysis.environment import Environment
from sqlext.analysis.typing import infer
from sqlext.plan.nodes import PlanNode
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.bad_rows import beside
from sqlext.rewrite.columns import value
from sqlext.rewrite.compiler import script_of
from sqlext.rewrite.context import ScopeContext
from sqlext.rewrite.expressions import cast_to, render
from sqlext.rewrite.late_rows import or_late, travels
from sqlext.rewrite.quoting import identifier, string
from sqlext.rewrite.readers import Begun
from sqlext.rewrite.script import BadScript, LateScript, SparkScript
from sqlext.types import LogicalType


def insert_script(insert: BoundInsert, env: Environment, *, end: InputEnd, begun: Begun | None = None) -> SparkScript:
    """Return the script whose rows are those of the sink, in the order of its columns; see ``script_of``."""
    outputs = _outputs(insert, env)
    script = script_of(insert.plan, env, outputs, end=end, latest=insert.mode != APPEND, begun=begun)
    required = _dropped_if_null(insert)
    if required:
        conditions = or_late(required) if travels(insert.plan) else required
        script = replace(script, query=f"SELECT * FROM ({script.query}) WHERE {' AND '.join(conditions)}")
    return with_bad_rows(with_late_rows(script, insert.late, env), insert.plan, insert.bad, env)


def with_late_rows(script: SparkScript, late: BoundInsert | None, env: Environment) -> SparkScript:
    """Return a query's script with what is done with its late rows, if they are kept."""
    if late is None:
        return script
    return replace(script, late=LateScript(late.table, _outputs(late, env), tuple(_dropped_if_null(late))))


def with_bad_rows(script: SparkScript, plan: PlanNode, bad: Sequence[BoundInsert], env: Environment) -> SparkScript:
    """Return a query's script with what is done with rows that its sources cannot decode, where they are kept."""
    if not bad:
        return script
    kept = tuple(BadScript(b.table, _outputs(b, env), tuple(_dropped_if_null(b))) for b in bad)
    beside_own = beside(script, bad_scans(plan), [b.table for b in bad], len(plan.hidden))
    return replace(beside_own, bad=kept)


def _outputs(insert: BoundInsert, env: Environment) -> tuple[tuple[str, str], ...]:
    return tuple((_text(a, insert, env), a.target.name) for a in insert.assignments)


def _dropped_if_null(insert: BoundInsert) -> list[str]:
    """Return what must hold for a row to be written, where rows with a NULL that cannot be are left out."""
    if insert.enforce_not_null != "drop":
        return []
    return [f"{identifier(a.target.name)} IS NOT NULL" for a in insert.assignments if _required(a, insert)]


def _text(assignment: Assignment, insert: BoundInsert, env: Environment) -> str:
    target = assignment.target.type
    assert target is not None
    text, from_ = "NULL", None
    if assignment.source is not None:
        text, from_ = value(assignment.source, env.zone), assignment.source.type
    elif assignment.constant is not None:
        text = render(assignment.constant, ScopeContext(insert.scope, _no_plan))
        from_ = infer(assignment.constant, insert.scope)
    text = cast_to(text, from_, target.as_nullable(), env.mode)
    if assignment.source is None and assignment.constant is None:
        text = f"CAST(NULL AS {target.spark()})"
    if insert.enforce_not_null == "error" and _required(assignment, insert) and _may_be_null(from_):
        name = f"{insert.table.name.name}.{assignment.target.name}"
        failure = f"raise_error({string(f'[RUN-003] column {name} is NOT NULL, but the query gave NULL')})"
        text = f"CASE WHEN {text} IS NULL THEN CAST({failure} AS {target.spark()}) ELSE {text} END"
    return text


def _required(assignment: Assignment, insert: BoundInsert) -> bool:
    key = insert.table.primary_key.columns if insert.table.primary_key else ()
    type_ = assignment.target.type
    return (type_ is not None and not type_.nullable) or assignment.target.name in key


def _may_be_null(from_: LogicalType | None) -> bool:
    return from_ is None or from_.nullable


def _no_plan(plan: PlanNode) -> str:
    raise TypeError("a constant has no sub-query")
