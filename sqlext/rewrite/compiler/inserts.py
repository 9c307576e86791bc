"""Compile an INSERT: convert the query's columns to the sink's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlext.analysis.expressions.failing import judged
from sqlext.analysis.inserts.bound import APPEND, BAD_ROWS, FINAL_STATE, LATE_ROWS, Assignment, BoundInsert
from sqlext.analysis.inserts.replays import comes_back
from sqlext.analysis.inserts.sides import bad_scans, finds_late, tables_of
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.types.inference import infer
from sqlext.plan.bad_rows import BAD, REFUSED
from sqlext.plan.nodes import LATE, PlanNode
from sqlext.plan.timing import InputEnd
from sqlext.quoting import identifier, string
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.compiler.refused_changes import JUDGED, KEYLESS, ROW, or_refused, with_refused_changes
from sqlext.rewrite.compiler.rows_where_read import RowsWhereRead, rows_where_read
from sqlext.rewrite.expressions.casts import cast, plain
from sqlext.rewrite.expressions.columns import value
from sqlext.rewrite.expressions.context import ScopeContext
from sqlext.rewrite.expressions.guarded import failed, first_of
from sqlext.rewrite.expressions.renderer import cast_to, render
from sqlext.rewrite.relations.letters import WHY, row_text
from sqlext.rewrite.script.begun import Begun
from sqlext.rewrite.script.model import ReplayInput, SideScript, SparkScript
from sqlext.rewrite.script.side_rows import (
    FOUND,
    beside,
    expanded,
    expression_letter,
    late_letter,
    numbered,
    or_late,
    or_letter,
    with_marks,
)
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
    plan = insert.plan
    latest, judged = insert.mode != APPEND, judges_rows(insert, env)
    changes = judged and (plan.updating or plan.changelog)
    marked = changes and latest
    outputs = guarded_outputs(insert, env) if judged or BAD in plan.hidden else _outputs(insert, env)
    required = _dropped_if_null(insert)
    plain = at_once and not local and not insert.overwrite and not required and not insert.sides
    found = rows_where_read(plan, env, outputs, end, begun) if plain else RowsWhereRead()
    if found.script is not None:
        return found.script
    # A query without an end runs in this process micro-batch by micro-batch, on rows as they are read.
    stepwise = local and end is InputEnd.NONE
    script = script_of(
        plan,
        env,
        outputs,
        end=end,
        latest=latest,
        begun=begun,
        at_once=at_once,
        local=local,
        stepwise=stepwise,
        packs=local and not stepwise,
    )
    script = replace(script, read_by_spark=tuple({**found.reasons, **dict(script.read_by_spark)}.items()))
    if changes:
        script = with_refused_changes(script, insert)
    elif judged or BAD in plan.hidden:
        script = with_sink_letters(script, plan)
    hidden = (*plan.hidden, *((REFUSED,) if marked else (BAD,) if judged else ()))
    if required:
        conditions = or_late(required) if plan.carries_late else required
        conditions = or_letter(required) if BAD in hidden else or_refused(required) if marked else conditions
        script = replace(script, query=f"SELECT * FROM ({script.query}) WHERE {' AND '.join(conditions)}")
    script = with_sides(script, plan, insert.sides, env, hidden)
    # A query that begins anew reads all its rows again. So nothing comes back into it.
    return script if end is InputEnd.FINISH else _with_replays(script, insert, hidden)


def _with_replays(script: SparkScript, insert: BoundInsert, behind: Sequence[str]) -> SparkScript:
    """Return a script with the dead letters that REPLAY feeds back into it.

    Args:
        behind: the hidden columns of its query.
    """
    letters = [n for n, side in enumerate(s for s in insert.sides if s.side == BAD_ROWS) if side.letters]
    packed = {step.table.name for step in script.read_by_arrow}
    if not letters or not script.streaming or script.at_once or script.local:
        return script
    found = []
    for back in comes_back(insert.plan):
        sources = tuple(s.view for s in script.sources if s.streaming and s.table.name == back.table.name)
        if sources and back.table.name not in packed:
            found.append(ReplayInput(f"{sources[0]}_replayed", back.table, sources, back.causes))
    hidden = sum(name != BAD for name in behind)
    return with_marks(replace(script, replays=tuple(found)), letters[0], hidden) if found else script


def judges_rows(insert: BoundInsert, env: Environment) -> bool:
    """Whether rows that a sink does not take are dead letters of a query that has no others of its steps.

    What is written once at the end has no micro-batch that could write dead letters.
    """
    if BAD in insert.plan.hidden or insert.mode == FINAL_STATE or not any(s.refused_of for s in insert.sides):
        return False
    return any(_reasons(insert, env))


def with_sides(
    script: SparkScript, plan: PlanNode, sides: Sequence[BoundInsert], env: Environment, hidden: Sequence[str] = ()
) -> SparkScript:
    """Return a query's script with what is done with rows that are kept beside its own (``side_inserts``).

    Args:
        hidden: the columns behind the visible ones of its query, ``BAD`` last; those of the plan where there are none.
    """
    hidden = hidden or plan.hidden
    late = [_side(s, LATE, FOUND, _of_late(s), env) for s in sides if s.side == LATE_ROWS]
    inserts = [s for s in sides if s.side == BAD_ROWS]
    bad = [_side(s, BAD, numbered(n), (f"{BAD}.*",), env) for n, s in enumerate(inserts)]
    if bad:
        script = beside(script, bad_scans(plan), [s.table for s in bad], len(hidden), carried=BAD in hidden)
    return replace(script, sides=(*late, *bad))


def _side(insert: BoundInsert, column: str, condition: str, columns: tuple[str, ...], env: Environment) -> SideScript:
    assert insert.side is not None
    outputs, conditions = _outputs(insert, env), tuple(_dropped_if_null(insert))
    return SideScript(
        insert.side,
        insert.table,
        insert.mode,
        column,
        condition,
        columns,
        outputs,
        conditions,
        insert.letters,
        insert.refused_of,
    )


def _of_late(insert: BoundInsert) -> tuple[str, ...]:
    """Return what a late row is made of."""
    return late_letter(finds_late(insert.plan)) if insert.letters else expanded()


def guarded_outputs(insert: BoundInsert, env: Environment) -> tuple[tuple[str, str], ...]:
    """Return the columns of the sink, NULL where a value does not fit; then those of ``JUDGED``."""
    usual = _outputs(replace(insert, enforce_not_null=""), env)
    found = zip(insert.assignments, usual, strict=True)
    outputs = [(_fitting(assignment, text, insert, env)[0], name) for assignment, (text, name) in found]
    why = first_of(_reasons(insert, env)) or "CAST(NULL AS STRUCT<code: STRING, reason: STRING>)"
    judged = (why, WHY), (row_text(insert.plan.columns, env.zone), ROW)
    keyless = first_of(_reasons(insert, env, _key_columns(insert)))
    return (*outputs, *judged, ("false" if keyless is None else f"{keyless} IS NOT NULL", KEYLESS))


def _key_columns(insert: BoundInsert) -> tuple[str, ...]:
    """Return the columns of the sink that name a row."""
    key = insert.table.primary_key
    return key.columns if key is not None else insert.merge_keys


def _reasons(insert: BoundInsert, env: Environment, columns: Sequence[str] | None = None) -> Iterator[str | None]:
    """Yield why a sink takes no row, by its columns; None where one takes all values.

    Args:
        columns: those that are looked at; all by default.
    """
    usual = _outputs(replace(insert, enforce_not_null=""), env)
    for assignment, (text, _) in zip(insert.assignments, usual, strict=True):
        if columns is None or assignment.target.name in columns:
            fitting, reason = _fitting(assignment, text, insert, env)
            yield reason
            yield _missing(assignment, fitting, insert)


def with_sink_letters(script: SparkScript, plan: PlanNode) -> SparkScript:
    """Return a script of ``guarded_outputs``, with rows that the sink takes not among the dead letters."""
    outputs = script.outputs[: -len(JUDGED)]
    letter = expression_letter(WHY, ROW, tables_of(plan), "Sink", "sink")
    names = ", ".join([*(identifier(name) for _, name in outputs), *(n for n in plan.hidden if n != BAD)])
    own = f"coalesce({BAD}, {letter})" if BAD in plan.hidden else letter
    query = f"SELECT {names}, {own} AS {BAD} FROM ({script.query})"
    return replace(script, query=query, outputs=outputs)


def _fitting(assignment: Assignment, text: str, insert: BoundInsert, env: Environment) -> tuple[str, str | None]:
    """Return a sink column that is NULL where the query's value does not fit, and why it does not."""
    target, source = assignment.target.type, assignment.source
    if source is None or target is None or not judged(source.type, target):
        return text, None
    own = value(source, env.zone)
    if text == own:
        return text, None
    tried = cast(own, source.type, target, True) if env.mode == "flink" else plain(own, target, True)
    why = f"column {insert.table.name.name}.{assignment.target.name}: the value does not fit {target.flink()}"
    return tried, failed(f"{own} IS NOT NULL AND {tried} IS NULL", "RUN-041", string(why))


def _missing(assignment: Assignment, text: str, insert: BoundInsert) -> str | None:
    """Return why a column that is NOT NULL takes no row."""
    from_ = assignment.source.type if assignment.source is not None else None
    if insert.enforce_not_null != "error" or not _required(assignment, insert) or not _may_be_null(from_):
        return None
    why = f"column {insert.table.name.name}.{assignment.target.name} is NOT NULL"
    return failed(f"{text} IS NULL", "RUN-003", string(why))


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
