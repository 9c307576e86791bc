"""Compile an INSERT: convert the query's columns to the sink's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlext.analysis.inserts.bound import APPEND, BAD_ROWS, LATE_ROWS, Assignment, BoundInsert
from sqlext.analysis.inserts.sides import bad_scans
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.types.inference import infer
from sqlext.plan.bad_rows import BAD
from sqlext.plan.nodes import LATE, PlanNode
from sqlext.plan.timing import InputEnd
from sqlext.quoting import identifier, string
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.expressions.columns import value
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.renderer import cast_to, render
from sqlext.rewrite.script.begun import Begun
from sqlext.rewrite.script.model import SideScript, SparkScript
from sqlext.rewrite.script.side_rows import FOUND, beside, expanded, numbered, or_late
from sqlext.types import LogicalType


def insert_script(
    insert: BoundInsert,
    env: Environment,
    *,
    end: InputEnd,
    begun: Begun | None = None,
    at_once: bool = False,
    local: bool = False,
) -> SparkScript:
    """Return the script whose rows are those of the sink, in the order of its columns; see ``script_of``."""
    outputs, latest = _outputs(insert, env), insert.mode != APPEND
    script = script_of(insert.plan, env, outputs, end=end, latest=latest, begun=begun, at_once=at_once, local=local)
    required = _dropped_if_null(insert)
    if required:
        conditions = or_late(required) if insert.plan.carries_late else required
        script = replace(script, query=f"SELECT * FROM ({script.query}) WHERE {' AND '.join(conditions)}")
    return with_sides(script, insert.plan, insert.sides, env)


def with_sides(script: SparkScript, plan: PlanNode, sides: Sequence[BoundInsert], env: Environment) -> SparkScript:
    """Return a query's script with what is done with rows that are kept beside its own (``side_inserts``)."""
    late = [_side(s, LATE, FOUND, expanded(), env) for s in sides if s.side == LATE_ROWS]
    inserts = [s for s in sides if s.side == BAD_ROWS]
    bad = [_side(s, BAD, numbered(n), (f"{BAD}.*",), env) for n, s in enumerate(inserts)]
    if bad:
        script = beside(script, bad_scans(plan), [s.table for s in bad], len(plan.hidden))
    return replace(script, sides=(*late, *bad))


def _side(insert: BoundInsert, column: str, condition: str, columns: tuple[str, ...], env: Environment) -> SideScript:
    assert insert.side is not None
    outputs, conditions = _outputs(insert, env), tuple(_dropped_if_null(insert))
    return SideScript(insert.side, insert.table, insert.mode, column, condition, columns, outputs, conditions)


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
    # A bare NULL is VOID to Spark; the sink needs a NULL of the column's type.
    if assignment.source is None and assignment.constant is None:
        text = f"CAST(NULL AS {target.spark()})"
    if insert.enforce_not_null == "error" and _required(assignment, insert) and _may_be_null(from_):
        name = f"{insert.table.name.name}.{assignment.target.name}"
        failure = f"raise_error({string(f'[RUN-003] column {name} is NOT NULL, but the query gave NULL')})"
        text = f"CASE WHEN {text} IS NULL THEN CAST({failure} AS {target.spark()}) ELSE {text} END"
    return text


def _required(assignment: Assignment, insert: BoundInsert) -> bool:
    # A PRIMARY KEY implies NOT NULL, as in Flink.
    key = insert.table.primary_key.columns if insert.table.primary_key else ()
    type_ = assignment.target.type
    return (type_ is not None and not type_.nullable) or assignment.target.name in key


def _may_be_null(from_: LogicalType | None) -> bool:
    return from_ is None or from_.nullable


def _no_plan(plan: PlanNode) -> str:
    raise TypeError("a constant has no sub-query")
