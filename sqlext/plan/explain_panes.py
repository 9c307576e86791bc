"""Describe groupings that an operator of ours keeps."""

from __future__ import annotations

from typing import Any

from sqlext.plan.firing import Firing
from sqlext.plan.nodes import Aggregate
from sqlext.plan.states import kept_for

_PANES = {
    "one": "one for each key and window",
    "each": "several for a key and window, each a row of its own",
    "last": "several for a key and window; each takes the place of the one before",
}


def describe_grouping(grouping: Aggregate, firing: Firing, reach: str | None) -> dict[str, Any]:
    """Return what there is to say of a grouping: ``by``, ``why``, ``emit``, ``panes``, ``sink``, ``late``, ``notes``;
    ``state``, where it has a time to live.

    Args:
        reach: how its rows reach the sink, None where another step is above it.
    """
    keys = [i.span.text for i in grouping.group_by]
    lives = {"state": kept_for(firing.ttl)} if firing.ttl is not None else {}
    return {
        "by": ", ".join([*(["the window"] if grouping.window else []), *keys]) or "nothing",
        "why": list(firing.why),
        "emit": grouping.emit or "by default",
        "panes": _panes(grouping, firing),
        "sink": reach or "to the step above",
        "late": _late(firing),
        "notes": list(firing.notes),
        **lives,
    }


def grouping_lines(described: dict[str, Any]) -> list[str]:
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
