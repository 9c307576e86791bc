"""Tell the panes of a group: its operator runs again over its rows, with the micro-batches and clocks that they had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlext.analysis.names.environment import Environment
from sqlext.analysis.scans.tables import with_hints
from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.queries import Hint
from sqlext.errors import SqlExtError
from sqlext.jobs.taken.model import END, BatchTime
from sqlext.local.row_search import passing
from sqlext.local.stepwise import BatchInput, steps_taken
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.grouping import Aggregate
from sqlext.plan.lineage.origins import Group
from sqlext.plan.lineage.panes import TOLD, PanedGroup, paned
from sqlext.plan.nodes import Aliased, ComputeMillis, ComputeTime, Project, Scan, TagTime
from sqlext.rewrite.arrow.in_process import LocalScript
from sqlext.session.introspection.advisor import in_utc
from sqlext.session.local_plans import NotLocalError, local_steps
from sqlext.sources.values import rows_of_table
from sqlext_udfs.kernel.row_kinds import DELETE, UPDATE_BEFORE

#: How many panes of a group are told.
MOST_PANES = 1000
#: What is said of a pane that came out of no query.
LEFT_OUT = "left out by HAVING"
_WINDOW = ("window_start", "window_end")


@dataclass(frozen=True)
class Pane:
    """A pane, or what is said in place of panes that cannot be told.

    Attributes:
        time: of the micro-batch that gave it; None where that cannot be told.
        number: its own, from 0.
        firing: its phase, and whether it was taken back.
        trigger: what let it come out, as it is written.
        rows: how many rows it held.
        values: its results by name; or why nothing is told.
    """

    time: BatchTime | None
    number: int | None
    firing: str
    trigger: str
    rows: int | None
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ArrivedRow:
    """A row that a group may hold.

    Attributes:
        view: of the scan that it came through.
        row: itself, with all columns of the table that the query reads.
        batch: the micro-batch that took it; None where that is not known.
    """

    view: str
    row: pa.Table
    batch: int | None


def needs_other_rows(group: Group) -> str:
    """Return which rows tell the panes of a group besides its own: ``all``, those of its ``key``, or none."""
    firing = group.node.firing
    if firing is None:
        return ""
    if firing.policy.asks_last_row or (firing.fill is not None and firing.fill.table is not None):
        return "all"
    return "key" if firing.fill is not None else ""


def panes_of(
    group: Group,
    rows: Sequence[ArrivedRow] | None,
    times: Sequence[BatchTime],
    names: Mapping[str, str],
    env: Environment,
) -> Iterator[Pane]:
    """Yield the panes of a group, or one that says why they cannot be told.

    Args:
        rows: those that it may hold, in the order in which they came; None if they are too many.
        times: of the micro-batches that are known.
        names: what a sink calls the results, by physical column.
        env: the surroundings.
    """
    if group.node.firing is None:
        yield Pane(None, 0, "ONCE", "batch mode: one result, of all rows", None, {})
        return
    if rows is None:
        yield _untold(group, "its input rows are too many to run them again")
        return
    if not group.node.streaming:  # rows that stand still are one batch, whatever Spark notes of it
        rows, times = [replace(row, batch=0) for row in rows], [BatchTime(0, END, None, None)]
    try:
        told, script = _compiled(group, env)
    except NotLocalError as reason:
        yield _untold(group, str(reason))
        return
    missing = _missing(rows, times)
    if missing:
        yield _untold(group, missing)
        return
    try:
        yield from _told(group, told, script, rows, times, names, env.zone)
    except SqlExtError as error:
        yield _untold(group, f"{error.code}: {error.message}")


def result_names(plan: PlanNode, node: Aggregate, filled: Mapping[str, str]) -> Mapping[str, str]:
    """Return what a sink calls the results of a grouping, by their physical columns.

    Args:
        plan: what is written.
        filled: the sink's columns, by the plan's physical ones.
    """
    names = dict(filled)
    while plan is not node:
        if isinstance(plan, Project):
            handed = ((o.handed_on.physical, names.get(o.physical)) for o in plan.outputs if o.handed_on is not None)
            names = {physical: name for physical, name in handed if name is not None}
        elif not isinstance(plan, (Aliased, TagTime, ComputeTime, ComputeMillis)):
            return {}
        plan = plan.inputs[0]
    return names


def _missing(rows: Sequence[ArrivedRow], times: Sequence[BatchTime]) -> str:
    """Return why the micro-batches of a group's rows are not known; empty where they are."""
    if not times:
        return "the micro-batches of the query are not known: it has ended none, or its checkpoint is another version's"
    known = {time.batch for time in times}
    lost = sum(row.batch is None for row in rows)
    if lost:
        which = f"the micro-batches of {lost} of {len(rows)} input rows"
        return f"{which} are not known: they came later, or before the last 100"
    return "" if any(row.batch in known for row in rows) or not rows else "no micro-batch that took them has ended yet"


def _untold(group: Group, reason: str) -> Pane:
    firing = group.node.firing
    return Pane(None, None, "NOT KNOWN", firing.phases.on_time if firing is not None else "", None, {"reason": reason})


def _compiled(group: Group, env: Environment) -> tuple[PanedGroup, LocalScript]:
    """Return how panes are told, with the results if this process knows the aggregates, and the script of that."""
    scans = [node for node in walk(group.node) if isinstance(node, Scan)]
    env = in_utc(env, scans[0].table) if scans else env
    try:
        told = paned(group, results=True)
        return told, local_steps(told.plan.transform(as_it_came), env)
    except NotLocalError:
        told = paned(group, results=False)
        return told, local_steps(told.plan.transform(as_it_came), env)


def as_it_came(node: PlanNode) -> PlanNode:
    """Return a scan of all rows of a table that are there: nobody limits or watches them."""
    if not isinstance(node, Scan):
        return node
    table = with_hints(node.table, (Hint("OPTIONS", (("scan.mode", "snapshot"),)),))
    if node.is_stream:
        table = connector_of(table).table_reader().history(table)
    return replace(node, table=table, watermarked=False, timing=None, ends=())


def _told(
    group: Group,
    told: PanedGroup,
    script: LocalScript,
    rows: Sequence[ArrivedRow],
    times: Sequence[BatchTime],
    names: Mapping[str, str],
    zone: str,
) -> Iterator[Pane]:
    views = {read.scan: read for read in script.reads}
    came: dict[int, dict[str, list[pa.Table]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        read = views[row.view]
        columns: Any = read.columns
        assert row.batch is not None
        came[row.batch][read.view].append(row.row.select([name for name, _ in columns]))
    first = min(came, default=0)
    used = [time for time in times if time.batch >= first]
    batches = (
        BatchInput(
            {view: pa.concat_tables(tables) for view, tables in came[time.batch].items()},
            time.watermark,
            time.late,
            time.clock,
        )
        for time in used
    )
    for time, out in zip(used, steps_taken(script, batches), strict=True):
        mine = out.filter(pc.and_(passing(out, told.keys, zone), _in_window(out, told)))
        for line in rows_of_table(mine):
            yield _pane(group, told, time, list(line), names)


def _in_window(rows: pa.Table, told: PanedGroup) -> pa.Array:
    mask = pa.repeat(pa.scalar(True), rows.num_rows)
    for place, (bound, value) in told.bounds.items():
        column = rows.column(place).cast(value.type, safe=False)
        if not told.grows:
            mask = pc.and_(mask, pc.equal(column, value))
        elif bound == "start":
            mask = pc.and_(mask, pc.greater_equal(column, value))
        else:
            mask = pc.and_(mask, pc.less_equal(column, value))
    return pc.fill_null(mask, False)


def _pane(group: Group, told: PanedGroup, time: BatchTime, line: list[Any], names: Mapping[str, str]) -> Pane:
    assert group.node.firing is not None
    *line, kind = line
    number, timing, rows = line[: len(TOLD)]
    results = line[len(line) - len(told.results) - told.having :]
    phases = group.node.firing.phases
    firing = str(timing)
    if time.watermark == END and firing == "ON_TIME":
        firing += " at the end of the input"
    if kind in (UPDATE_BEFORE, DELETE):
        firing += ", taken back"
    if told.having and results[-1] is not True:
        firing += f", {LEFT_OUT}"
    trigger = {"EARLY": phases.early, "LATE": phases.late}.get(str(timing), phases.on_time)
    if timing == "FILLED":
        trigger = f"{trigger}, FILL"
    values = {name: line[place] for name, place in zip(_WINDOW, told.windows, strict=False)}
    values |= {names.get(physical, name): v for (physical, name), v in zip(told.results, results, strict=False)}
    return Pane(time, number, firing, trigger, rows, values)
