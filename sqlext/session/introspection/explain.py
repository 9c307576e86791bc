"""Answer EXPLAIN: say what a statement would do, without doing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sqlext.analysis.emit.rules import period_notes
from sqlext.analysis.inserts.binding import bind_insert
from sqlext.analysis.inserts.bound import FINAL_STATE, UPSERT, BoundInsert
from sqlext.analysis.inserts.replays import bind_replay
from sqlext.analysis.inserts.sides import late_insert
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError
from sqlext.jobs.result import Result
from sqlext.plan.explain import Course, as_json, as_mermaid, as_text
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import PlanNode
from sqlext.plan.panes import has_clause
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.boundedness import is_bounded
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.export.layout import layout
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.real_time import asked_for
from sqlext.rewrite.script.real_time import told as told_of_real_time
from sqlext.secrets import redact_forms
from sqlext.session.drafts import end_of
from sqlext.session.introspection.shared_tables import shared_tables
from sqlext.session.local_plans import engine_of, is_of_this_process
from sqlext.session.places import few_of
from sqlext.sinks.base import SinkContext

if TYPE_CHECKING:
    from sqlext.session.drafts import Drafts

_WRITERS = {"JSON": as_json, "JSON_EXECUTION_PLAN": as_json, "MERMAID": as_mermaid}


def explain_statement(
    statement: ast.Explain,
    env: Environment,
    interval: int | None = None,
    drafts: Drafts | None = None,
    *,
    at_once: bool = True,
    spark_is_there: bool = False,
) -> Result:
    """Return the plans of a statement and the Spark SQL they become, as one row of text.

    Args:
        interval: ms between the micro-batches of unbounded queries, where it is given.
        drafts: knows the places of queries, where there can be some.
        at_once: whether queries may be one batch.
        spark_is_there: whether a Spark session was given or has started.

    Raises:
        SqlExtError: DDL-040 for a statement that reads nothing.
    """
    detail = next((d for d in statement.details if d in _WRITERS), "TEXT")
    plans = _plans(statement, env, at_once=at_once)
    # JSON and Mermaid are of the plan alone.
    told = told_of(plans, env, None if detail in _WRITERS else drafts, there=spark_is_there)
    texts = [
        explained(_noted(plan, interval), made, detail, insert, beside)
        for (plan, made, insert), beside in zip(plans, told, strict=True)
    ]
    return Result(("result",), [("\n\n".join(texts),)])


class Told(NamedTuple):
    """What is told of a query beside its plan.

    Attributes:
        place: what becomes of the checkpoint, where there is one.
        engine: who runs it and why, where it need not be Spark.
        shared: which tables it reads together with others of its statement set, and which not, and why.
        sink: who commits its micro-batches and why, where there is a choice.
        trigger: whether its rows come in no micro-batches, where that was asked for.
    """

    place: str | None = None
    engine: str | None = None
    shared: Sequence[str] = ()
    sink: str | None = None
    trigger: str | None = None


#: A query: its plan, what Spark would be given, and the sink that takes it (None for a SELECT).
Explained = tuple[PlanNode, SparkScript, "BoundInsert | None"]


def told_of(queries: Sequence[Explained], env: Environment, drafts: Drafts | None, *, there: bool) -> list[Told]:
    """Return what is told of the queries of a statement beside their plans.

    Args:
        drafts: knows the places of queries, where there can be some.
        there: whether a Spark session was given or has started.
    """
    inserts = [insert for _, _, insert in queries if insert is not None]
    begun = bool(inserts) and drafts is not None and drafts.have_begun_here(inserts)
    engines = [engine_of(plan, insert, env, there=there, begun=begun) for plan, _, insert in queries]
    local = all(map(is_of_this_process, engines))
    places = drafts.foretold(inserts, local=local) if drafts is not None and inserts else [None] * len(queries)
    shared = shared_tables([made for _, made, _ in queries], [insert for _, _, insert in queries], engines, env)
    return [
        Told(place, engine, tables, None if local else _writer(insert, made, env), trigger_of(insert, made, env))
        for (_, made, insert), place, engine, tables in zip(queries, places, engines, shared, strict=True)
    ]


def explained(
    plan: PlanNode,
    script: SparkScript,
    detail: str,
    insert: BoundInsert | None,
    told: Told | None = None,
) -> str:
    """Return one plan in the asked-for form.

    Text has below the tree who reads the tables, what becomes of the checkpoint, and the rewritten SQL. What has the
    form of a secret is hidden, also in what the query compares with.

    Args:
        told: what is not in the plan.
    """
    writer = _WRITERS.get(detail)
    course = Course(_reach(plan, insert), tuple(a.table.name.name for a in script.read_by_arrow if a.function))
    if writer:
        return redact_forms(writer(plan, course))
    told = told or Told()
    # Where this process reads all tables, Spark reads none.
    read = replace(script, read_by_spark=()) if is_of_this_process(told.engine) else script
    below = {
        "Engine": [told.engine] if told.engine else [],
        "Sources": read.reading,
        "Shared": told.shared,
        "Sink": [told.sink] if told.sink else [],
        "Trigger": [told.trigger] if told.trigger else [],
        "Checkpoint": (told.place or "").splitlines(),
    }
    lists = ["\n  ".join((f"{title}:", *lines)) for title, lines in below.items() if lines]
    return redact_forms("\n\n".join([as_text(plan, course), *lists, f"Spark SQL:\n{layout(script.query)}"]))


def _plans(explain: ast.Explain, env: Environment, *, at_once: bool) -> list[Explained]:
    statement = explain.statement
    if isinstance(statement, ast.SelectStatement):
        plan = QueryBinder(env).bind_whole(statement.query)
        late_insert(plan, env)  # only to refuse a late table that cannot take the rows
        return [(plan, _as_it_runs(partial(script_of, plan, env), at_once=at_once and is_bounded(plan)), None)]
    if isinstance(statement, ast.Replay):
        plan = bind_replay(statement, env).plan
        return [(plan, script_of(plan, env, end=InputEnd.FINISH), None)]
    inserts = statement.inserts if isinstance(statement, ast.StatementSet) else (statement,)
    bound = []
    for insert in inserts:
        if not isinstance(insert, ast.Insert):
            raise SqlExtError("DDL-040", "EXPLAIN takes a query, an INSERT or a CREATE TABLE AS", span=statement.span)
        bound.append(bind_insert(insert, env))
    at_once = at_once and end_of(bound, env.settings) is InputEnd.FINISH
    return [(b.plan, _as_it_runs(partial(insert_script, b, env), at_once=at_once), b) for b in bound]


def _as_it_runs(made: Callable[..., SparkScript], *, at_once: bool) -> SparkScript:
    """Return a query's script; of a stream without what only ends its input."""
    if not at_once:
        return made(end=InputEnd.CATCH_UP)
    # Whether a query is one batch is known only when it is compiled as such.
    script = made(end=InputEnd.FINISH, at_once=True)
    return script if script.at_once else replace(made(end=InputEnd.CATCH_UP), read_by_spark=script.read_by_spark)


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


def _writer(insert: BoundInsert | None, script: SparkScript, env: Environment) -> str | None:
    """Return who commits the micro-batches of an INSERT, where there is a choice."""
    if insert is None or script.at_once or insert.overwrite:
        return None
    keys = insert.merge_keys if insert.mode == UPSERT else script.keys
    # Sinks need pyarrow, which a check has no other use for.
    from sqlext.sinks.opening import writer

    context = SinkContext("", "", insert.mode, keys, zone=env.zone, few=few_of(env.settings))
    return writer(connector_of(insert.table).write_spec(insert.table), context)


def trigger_of(insert: BoundInsert | None, script: SparkScript, env: Environment) -> str | None:
    """Return whether an INSERT runs in real-time mode, where that was asked for."""
    batch = asked_for(env.settings)
    if insert is None or batch is None:
        return None
    return told_of_real_time(insert, script, batch, ends=is_bounded(insert.plan))


def _noted(plan: PlanNode, interval: int | None) -> PlanNode:
    """Return a plan whose groupings say where micro-batches come less often than they want to fire."""

    def rule(node: PlanNode) -> PlanNode:
        if interval is None or not isinstance(node, Aggregate) or node.kept is None:
            return node
        notes = (*node.kept.notes, *period_notes(node.kept.policy, interval))
        return replace(node, firing=replace(node.kept, notes=notes))

    return plan.transform(rule)
