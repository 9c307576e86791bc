"""What a query is, part by part: equal for plans that can go on from each other's state."""

from __future__ import annotations

from sqlext.plan.nodes import Aggregate, AssignWindows, Operator, PlanNode, Scan


def fingerprint(plan: PlanNode, query: str, sink: str) -> dict[str, str]:
    """Return the parts of a query that its state depends on, each as short text.

    Args:
        plan: the plan before the rewrite rules.
        query: the rewritten text: whatever no part names shows here.
        sink: the sink's name and how it is written.
    """
    parts = {"sink": sink}
    counts: dict[str, int] = {}

    def add(kind: str, text: str) -> None:
        counts[kind] = counts.get(kind, 0) + 1
        parts[f"{kind} {counts[kind]}"] = text

    for node in _walk(plan):
        if isinstance(node, Scan):
            delay = f"{node.delay} ms" if node.delay is not None else str(node.table.watermark)
            add("source", f"{node.table.name.plain} ({node.table.option('connector')}, watermark delay {delay})")
        elif isinstance(node, AssignWindows):
            add("window", str(node.spec))
        elif isinstance(node, Aggregate):
            add("group by", ", ".join(i.span.text for i in node.group_by) or "nothing")
            add("columns", ", ".join(o.expr.span.text if o.expr else o.physical for o in node.outputs))
        elif isinstance(node, Operator):
            add("operator", f"{node.function}{node.arguments}")
    parts["query"] = query
    return parts


def _walk(node: PlanNode) -> list[PlanNode]:
    return [node, *(n for i in node.inputs for n in _walk(i))]
