"""Compile a plan to a script: settle the readers, apply the rules, render the text."""

from __future__ import annotations

from sqlext.analysis.names.environment import Environment
from sqlext.capabilities import STATE, require
from sqlext.connectors.readers import Unread
from sqlext.plan.nodes import KIND, PlanNode
from sqlext.plan.timing import InputEnd
from sqlext.quoting import identifier, named
from sqlext.rewrite.compiler.boundedness import (
    fits_at_once,
    fits_in_process,
    fits_into_memory,
    holds_rows,
    reads_at_once,
)
from sqlext.rewrite.compiler.renderer import PlanRenderer
from sqlext.rewrite.expressions.columns import default_outputs
from sqlext.rewrite.rules.order import apply_rules
from sqlext.rewrite.script.begun import Begun, Readers, wanted_buckets
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.side_rows import unless_late


def script_of(
    plan: PlanNode,
    env: Environment,
    outputs: tuple[tuple[str, str], ...] | None = None,
    *,
    end: InputEnd,
    latest: bool = False,
    begun: Begun | None = None,
    at_once: bool = False,
    local: bool = False,
    stepwise: bool = False,
    packs: bool = False,
) -> SparkScript:
    """Return the Spark script of a plan.

    Args:
        outputs: (text, name) of the final columns, the text over the plan's physical columns; by default the
            columns' values under their names, made unique.
        end: what the end of its input is.
        latest: whether who takes an updating result looks at the last row of a key and micro-batch alone.
        begun: what it keeps that it began with, where the query goes on or readers of ours have no folder.
        at_once: whether it may run as one batch without state.
        local: whether it is for this process: a script of views that ``arrow.in_process`` compiles.
        stepwise: whether this process does it micro-batch by micro-batch, and not all at once.
        packs: whether this process may combine rows where it reads them, as workers of Spark do.

    Raises:
        SqlExtError: ENV-014 for what the installed Spark cannot do.
        Unsuited, Unread: if it is ``local``: why Spark must run it.
    """
    readers = Readers(env.settings, begun)
    rewritten = apply_rules(plan if local else readers.settled(plan))
    if local and not stepwise and not fits_in_process(rewritten, latest=latest):
        raise Unread("rows that change, or come several times, are given as they come")

    def rendered(*, at_once: bool) -> tuple[PlanRenderer, str]:
        renderer = PlanRenderer(
            env.zone, end=end, latest=latest, readers=readers, at_once=at_once, local=local, packs=packs or not local
        )
        return renderer, renderer.relation(rewritten)

    # Rendering alone shows whether Arrow reads all streams, so a query that might be one batch is tried as one first.
    one = at_once and readers.at_once(end) and fits_at_once(rewritten)
    # One that goes on is what it was when it began.
    one = one and (begun is not None or not holds_rows(rewritten) or fits_into_memory(rewritten))
    # Without Spark, a query that has an end is one batch; of one that has none each micro-batch is a step.
    renderer, relation = rendered(at_once=(local and end is not InputEnd.NONE) or one)
    if renderer.at_once and not local and not reads_at_once(renderer.sources, renderer.steps):
        reasons = renderer.read_by_spark
        renderer, relation = rendered(at_once=False)
        # The reasons of the first try are those that kept the query from being one batch.
        renderer.read_by_spark |= {t: why for t, why in reasons.items() if t in renderer.read_by_spark}
    final = outputs if outputs is not None else default_outputs(plan, env.zone)
    late = plan.carries_late
    selected = [named(unless_late(text) if late else text, name) for text, name in final]
    # Behind the visible columns, in the order of ``PlanNode.hidden``, as ``SparkScript.query`` says.
    selected += [identifier(name) for name in plan.hidden]
    by_spark = {source.table.name.name for source in renderer.sources}
    script = SparkScript(
        tuple(renderer.sources),
        tuple(renderer.steps),
        f"SELECT {', '.join(selected)} FROM {relation}",
        tuple(final),
        plan.streaming,
        plan.updating,
        plan.keys,
        renderer.used_heartbeat,
        KIND in plan.hidden,
        kept=tuple(renderer.kept),
        table_functions=tuple(renderer.table_functions.values()),
        left=tuple(renderer.left),
        read_by_spark=tuple((t, why) for t, why in renderer.read_by_spark.items() if t in by_spark),
        at_once=renderer.at_once,
        local=local,
        buckets=(begun.buckets if begun is not None else None) or wanted_buckets(env.settings),
    )
    if script.keeps_state and not local:
        require(STATE)
    return script
