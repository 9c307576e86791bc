"""A plan for people and tools: text, JSON, Mermaid. Says what is native, what is updating, where time goes."""

from __future__ import annotations

import json
from typing import Any

from sqlext.plan import nodes
from sqlext.plan.columns import Time


def describe_plan(plan: nodes.PlanNode) -> dict[str, Any]:
    """Return a plan as plain values.

    ``path`` is native or stateful with ``why``; ``changelog`` is append or update; ``time_attributes`` are those of
    the result; ``tree`` is the nodes, each with ``node``, ``detail``, ``changelog`` and ``inputs``.
    """
    operators = [n for n in walk(plan) if isinstance(n, nodes.Operator)]
    why = (
        f"stateful function {', '.join(o.function for o in operators)}: Spark has no operator that gives these rows"
        if operators
        else "every step has an operator of Spark that gives the same rows"
    )
    return {
        "path": "stateful" if operators else "native",
        "why": why,
        "mode": "streaming" if plan.streaming else "batch",
        "changelog": _changelog(plan),
        "columns": [f"{c.name} {c.type_text()}" for c in plan.columns],
        "time_attributes": [f"{c.name} *{c.time.value}*" for c in plan.columns if c.time is not None],
        "watermarks": [_watermark(n) for n in walk(plan) if isinstance(n, nodes.Scan) and n.rowtime],
        "tree": _tree(plan),
    }


def as_text(plan: nodes.PlanNode) -> str:
    """Return a plan as an indented tree with a summary above it."""
    facts = describe_plan(plan)
    lines = [
        f"path:            {facts['path']} ({facts['why']})",
        f"mode:            {facts['mode']}",
        f"result:          {facts['changelog']}",
        f"time attributes: {', '.join(facts['time_attributes']) or 'none'}",
    ]
    lines += [f"watermark:       {w}" for w in facts["watermarks"]]
    return "\n".join([*lines, *_text_lines(facts["tree"], 0)])


def as_json(plan: nodes.PlanNode) -> str:
    """Return ``describe_plan`` as JSON."""
    return json.dumps(describe_plan(plan), indent=2, ensure_ascii=False)


def as_mermaid(plan: nodes.PlanNode) -> str:
    """Return a plan as a Mermaid flow chart, sources at the top."""
    lines = ["flowchart TD"]
    _mermaid(describe_plan(plan)["tree"], lines, [0])
    return "\n".join(lines)


def walk(plan: nodes.PlanNode) -> list[nodes.PlanNode]:
    """Return a plan's nodes, the top first."""
    return [plan, *(n for i in plan.inputs for n in walk(i))]


def _changelog(node: nodes.PlanNode) -> str:
    if not node.updating:
        return "append"
    aggregate = next(n for n in walk(node) if isinstance(n, nodes.Aggregate))
    keys = ", ".join(i.span.text for i in aggregate.group_by)
    return f"update, by key ({keys})" if keys else "update, one row"


def _watermark(scan: nodes.Scan) -> str:
    name = f"{scan.table.name.name}.{scan.rowtime}"
    if scan.delay is not None:
        return f"{name}: largest value - {scan.delay} ms"
    return f"{name}: {scan.table.watermark.expression if scan.table.watermark else ''}"


def _tree(node: nodes.PlanNode) -> dict[str, Any]:
    if isinstance(node, nodes.Aliased):
        return _tree(node.input)
    return {
        "node": type(node).__name__,
        "detail": _detail(node),
        "changelog": _changelog(node),
        "time": [c.name for c in node.columns if c.time is Time.ROWTIME],
        "inputs": [_tree(i) for i in node.inputs],
    }


def _detail(node: nodes.PlanNode) -> str:
    if isinstance(node, nodes.Scan):
        kind = "stream" if node.is_stream else "snapshot"
        return f"{node.table.name.plain} ({node.table.option('connector')}, {kind})"
    if isinstance(node, nodes.AssignWindows):
        return f"{node.spec} on {node.time.name}"
    if isinstance(node, nodes.ComputeGap):
        return f"{node.gap.span.text} of each row"
    if isinstance(node, nodes.Aggregate):
        keys = [i.span.text for i in node.group_by]
        if node.window:
            return f"by window{', ' if keys else ''}{', '.join(keys)}; emitted when the watermark passes the window"
        return f"by {', '.join(keys) or 'nothing'}"
    if isinstance(node, nodes.Project):
        where = f" where {node.where.span.text}" if node.where is not None else ""
        return f"{', '.join(c.name for c in node.columns)}{where}"
    if isinstance(node, nodes.Join):
        return f"{node.kind}{' on ' + node.condition.span.text if node.condition is not None else ''}"
    if isinstance(node, nodes.SetQuery):
        return node.op
    if isinstance(node, nodes.Operator):
        return f"stateful function {node.function}"
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
