"""Compile a query that keeps no rows to one batch whose rows are made where Arrow reads its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlext.analysis.names.environment import Environment
from sqlext.plan.base import walk
from sqlext.plan.nodes import PlanNode
from sqlext.plan.stateful import Stateful
from sqlext.plan.timing import InputEnd
from sqlext.quoting import identifier
from sqlext.rewrite.arrow.choose_source import chosen_rows
from sqlext.rewrite.compiler.boundedness import reads_at_once
from sqlext.rewrite.compiler.renderer import PlanRenderer
from sqlext.rewrite.relations.operator_input import OperatorInput
from sqlext.rewrite.rules.order import apply_rules
from sqlext.rewrite.script.begun import Begun, Readers, wanted_buckets
from sqlext.rewrite.script.model import SparkScript


@dataclass(frozen=True)
class RowsWhereRead:
    """What has become of a query.

    Attributes:
        script: its script; None: Spark reads its tables.
        reasons: tables that Arrow might have read, each with why Spark reads it.
    """

    script: SparkScript | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


def rows_where_read(
    plan: PlanNode, env: Environment, outputs: Sequence[tuple[str, str]], end: InputEnd, begun: Begun | None
) -> RowsWhereRead:
    """Return the script of a query of SELECTs over one table, if Arrow reads that.

    Args:
        outputs: text and name of the final columns; see ``script_of``.

    Raises:
        SqlExtError: ENV-014 for what the installed Spark cannot do.
    """
    readers = Readers(env.settings, begun)
    changes = plan.updating or plan.changelog or bool(plan.hidden)
    if not plan.streaming or not readers.at_once(end) or changes or env.policy.restricted:
        return RowsWhereRead()
    if any(isinstance(node, Stateful) for node in walk(plan)):
        return RowsWhereRead()
    renderer = PlanRenderer(env.zone, end=end, readers=readers, at_once=True)
    of = OperatorInput(apply_rules(readers.settled(plan)), [text for text, _ in outputs])
    pushed = chosen_rows(of, renderer)
    if pushed is None:
        return RowsWhereRead(reasons=renderer.read_by_spark)
    view = renderer.add_step(lambda name: pushed.view(name, "", ()))
    if not reads_at_once(renderer.sources, renderer.steps):
        return RowsWhereRead()
    named = ", ".join(f"c{i} AS {identifier(name)}" for i, (_, name) in enumerate(outputs))
    script = SparkScript(
        tuple(renderer.sources),
        tuple(renderer.steps),
        f"SELECT {named} FROM {view}",
        tuple((f"c{i}", name) for i, (_, name) in enumerate(outputs)),
        streaming=True,
        updating=False,
        keys=(),
        heartbeat=False,
        at_once=True,
        buckets=(begun.buckets if begun is not None else None) or wanted_buckets(env.settings),
    )
    return RowsWhereRead(script)
