"""Describe a plan as text, JSON or Mermaid.

The description tells which steps are native, which results update, and where time attributes go.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlext.plan import nodes
from sqlext.plan.base import walk
from sqlext.plan.columns import Time
from sqlext.plan.firing import Firing
from sqlext.plan.grouping import Aggregate
from sqlext.plan.panes import last_groupings
from sqlext.plan.stateful import Stateful, kept_for, unbounded_states
from sqlext.plan.unnest import Unnested

_PANES = {
    "one": "one for each key and window",
    "each": "several for a key and window, each a row of its own",
    "last": "several for a key and window; each takes the place of the one before",
}


@dataclass(frozen=True, slots=True)
class Course:
    """What becomes of a plan beyond what it says itself.

    Attributes:
        reach: how its rows reach their sink.
        combined: tables whose rows Arrow combines where it reads them, for an operator of ours.
    """

    reach: str | None = None
    combined: tuple[str, ...] = ()


def describe_plan(plan: nodes.PlanNode, course: Course = Course()) -> dict[str, Any]:
    """Return a plan as plain values.

    ``path`` is native or stateful with ``why``; ``changelog`` is append or update; ``time_attributes`` are those of
    the result; ``groupings`` those that an operator of ours keeps; ``unbounded_states`` what is kept for ever;
    ``tree`` is the nodes, each with ``node``, ``detail``, ``changelog`` and ``inputs``.
    """
    path, why = _path(plan, course.combined)
    # By identity: an equal grouping may stand elsewhere in the plan.
    last = {id(n) for n in last_groupings(plan)}
    return {
        "path": path,
        "why": why,
        "mode": "streaming" if plan.streaming else "batch",
        "changelog": changelog_of(plan),
        "columns": [f"{c.name} {c.type_text()}" for c in plan.columns],
        "time_attributes": [f"{c.name} *{c.time.value}*" for c in plan.columns if c.time is not None],
        "watermarks": [_watermark(n) for n in walk(plan) if isinstance(n, nodes.Scan) and n.rowtime],
        "groupings": [
            _grouping(n, n.kept, course.reach if id(n) in last else None)
            for n in walk(plan)
            if isinstance(n, Aggregate) and n.kept is not None
        ],
        "unbounded_states": [state.what for state in unbounded_states(plan)],
        "tree": _tree(plan),
    }


def as_text(plan: nodes.PlanNode, course: Course = Course()) -> str:
    """Return a plan as an indented tree with a summary above it."""
    facts = describe_plan(plan, course)
    lines = [
        f"path:            {facts['path']} ({facts['why']})",
        f"mode:            {facts['mode']}",
        f"result:          {facts['changelog']}",
        f"time attributes: {', '.join(facts['time_attributes']) or 'none'}",
    ]
    lines += [f"watermark:       {w}" for w in facts["watermarks"]]
    lines += [f"unbounded state: {what}" for what in facts["unbounded_states"]]
    lines += [line for grouping in facts["groupings"] for line in _grouping_lines(grouping)]
    return "\n".join([*lines, *_text_lines(facts["tree"], 0)])


def as_json(plan: nodes.PlanNode, course: Course = Course()) -> str:
    """Return ``describe_plan`` as JSON."""
    return json.dumps(describe_plan(plan, course), indent=2, ensure_ascii=False)


def as_mermaid(plan: nodes.PlanNode, course: Course = Course()) -> str:
    """Return a plan as a Mermaid flow chart, sources at the top."""
    lines = ["flowchart TD"]
    _mermaid(describe_plan(plan, course)["tree"], lines, [0])
    return "\n".join(lines)


def _path(plan: nodes.PlanNode, combined: tuple[str, ...]) -> tuple[str, str]:
    """Return whether operators of ours keep state, and why."""
    stateful = dict.fromkeys(text for node in walk(plan) if isinstance(node, Stateful) for text in node.why)
    if stateful:
        return "stateful", f"{', '.join(stateful)}: Spark has no operator that gives these rows"
    if combined:
        return "stateful", f"Arrow combines the rows of {', '.join(combined)} where it reads them"
    return "native", "every step has an operator of Spark that gives the same rows"


#: How rows change that stay as they are.
APPEND = "append"


def changelog_of(node: nodes.PlanNode) -> str:
    """Return how the rows of a step change: append, update by key, or a changelog."""
    if node.changelog:
        return "changelog"
    if not node.updating:
        return APPEND
    # Only GROUP BY makes a relation updating; every operator of ours gives a changelog instead.
    keys = next(n for n in walk(node) if isinstance(n, Aggregate)).by.named
    return f"update, by key ({keys})" if keys else "update, one row"


def _watermark(scan: nodes.Scan) -> str:
    name = f"{scan.table.name.name}.{scan.rowtime}"
    if scan.delay is not None:
        return f"{name}: largest value - {scan.delay} ms"
    return f"{name}: {scan.table.watermark.expression if scan.table.watermark else ''}"


def _tree(node: nodes.PlanNode) -> dict[str, Any]:
    if isinstance(node, nodes.Aliased):
        # An alias only renames: in EXPLAIN it is no step.
        return _tree(node.input)
    return {
        "node": node.step,
        "detail": detail_of(node),
        "changelog": changelog_of(node),
        "time": [c.name for c in node.columns if c.time is Time.ROWTIME],
        "inputs": [_tree(i) for i in node.inputs],
    }


def detail_of(node: nodes.PlanNode) -> str:
    """Return what there is to say of a step beside its name."""
    if isinstance(node, nodes.Scan):
        kind = "stream" if node.is_stream else "snapshot"
        return f"{node.table.name.plain} ({node.table.option('connector')}, {kind})"
    if isinstance(node, nodes.AssignWindows):
        return f"{node.spec} on {node.time.name}"
    if isinstance(node, nodes.ComputeMillis):
        return f"{node.length.span.text} of each row"
    if isinstance(node, nodes.Project):
        where = f" where {node.where.span.text}" if node.where is not None else ""
        return f"{', '.join(c.name for c in node.columns)}{where}"
    if isinstance(node, nodes.Join):
        return f"{node.kind}{' on ' + node.condition.span.text if node.condition is not None else ''}"
    if isinstance(node, Unnested):
        return node.what
    if isinstance(node, nodes.SetQuery):
        return node.op
    if isinstance(node, Stateful):
        return node.detail
    return node.text if isinstance(node, nodes.SparkTable) else ""


def _text_lines(tree: dict[str, Any], depth: int) -> list[str]:
    mark = "" if tree["changelog"] == "append" else f"  [{tree['changelog']}]"
    line = f"{'  ' * depth}{tree['node']}({tree['detail']}){mark}"
    return [line, *(text for i in tree["inputs"] for text in _text_lines(i, depth + 1))]


def _mermaid(tree: dict[str, Any], lines: list[str], counter: list[int]) -> int:
    inputs = [_mermaid(i, lines, counter) for i in tree["inputs"]]
    counter[0] += 1
    number = counter[0]
    label = f"{tree['node']}: {tree['detail']}".replace('"', "'").replace("\n", " ")
    lines.append(f'    n{number}["{label}"]')
    lines.extend(f"    n{i} -->|{tree['changelog'].split(',')[0]}| n{number}" for i in inputs)
    return number


def _grouping(grouping: Aggregate, firing: Firing, reach: str | None) -> dict[str, Any]:
    """Return what there is to say of a grouping: ``by``, ``why``, ``emit``, ``panes``, ``sink``, ``late``, ``notes``;
    ``state``, where it has a time to live or fills windows.

    Args:
        reach: how its rows reach the sink, None where another step is above it.
    """
    lives = {"state": kept_for(firing.ttl)} if firing.ttl is not None else {}
    if firing.fill is not None:
        lives = {"state": firing.fill.bound}
    return {
        "by": grouping.by.named or "nothing",
        "why": list(firing.why),
        "emit": firing.emit or "by default",
        "panes": _panes(grouping, firing),
        "sink": reach or "to the step above",
        "late": _late(firing),
        "notes": list(firing.notes),
        **lives,
    }


def _grouping_lines(described: dict[str, Any]) -> list[str]:
    """Return it as lines of text."""
    lines = [
        f"stateful:        GROUP BY {described['by']}: {'; '.join(described['why'])}",
        f"  EMIT:          {described['emit'].removeprefix('EMIT ')}",
        f"  panes:         {described['panes']}",
        f"  sink:          {described['sink']}",
        f"  late rows:     {described['late']}",
    ]
    lines += [f"  state:         {described['state']}"] if "state" in described else []
    return lines + [f"  note:          {note}" for note in described["notes"]]


def _panes(grouping: Aggregate, firing: Firing) -> str:
    if grouping.retracts:
        return "several for a key and window, and the rows that take them back"
    return _PANES[firing.panes]


def _late(firing: Firing) -> str:
    if firing.late is None:
        return "dropped and counted" if firing.event_time or firing.policy.once else "none"
    return f"into {firing.late.table.name.name} ({', '.join(c.name for c in firing.late.columns)})"
