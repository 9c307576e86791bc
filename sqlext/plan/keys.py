"""Find the visible columns that hold the key of an updating result."""

from __future__ import annotations

from sqlext.plan.nodes import KEY_ALL, KEY_SET, Aggregate, Aliased, PlanNode, Project
from sqlext.plan.shapes import shape
from sqlext.plan.windows import WindowKind

#: The bounds that name a window among those of its kind; of others each one does.
_NAMING = {
    WindowKind.CUMULATE: (("end",), ("time",)),
    WindowKind.SESSION: (("start", "end"), ("start", "time")),
}


def visible_key(plan: PlanNode) -> tuple[str, ...] | None:
    """Return the physical columns that hold the whole key of an updating result, None if one is not shown."""
    key, grouping = _key(plan), plan
    while isinstance(grouping, (Aliased, Project)):
        grouping = grouping.input
    assign = grouping.assignment() if isinstance(grouping, Aggregate) else None
    if not key or assign is None:
        return key
    shown = {c.window_bound for c in plan.columns if c.physical == key[-1]}
    naming = _NAMING.get(assign.spec.kind, (("start",), ("end",), ("time",)))
    return key if any(shown.issuperset(n) for n in naming) else None


def _key(plan: PlanNode) -> tuple[str, ...] | None:
    """Return the physical columns of the key, that of the window last."""
    if isinstance(plan, Aliased):
        return _key(plan.input)
    if isinstance(plan, Project):
        below = _key(plan.input)
        if below is None:
            return None
        names = {o.handed_on.physical: o.physical for o in plan.outputs if o.handed_on is not None}
        return tuple(names[b] for b in below) if all(b in names for b in below) else None
    if not isinstance(plan, Aggregate) or KEY_SET in plan.key_columns or KEY_ALL in plan.key_columns:
        return None
    keys = {o.physical: o.expr for o in plan.outputs if o.physical in plan.key_columns}
    shown = {
        shape(o.expr, plan.scope): o.physical for o in plan.outputs if o.expr is not None and o.physical not in keys
    }
    found = [shown.get(shape(e, plan.scope)) for e in keys.values() if e is not None]
    if plan.window is not None:
        found.append(plan.window if any(c.physical == plan.window for c in plan.columns) else None)
    return None if None in found else tuple(f for f in found if f is not None)
