"""Refuse EMIT clauses that the grammar allows and that make no sense."""

from __future__ import annotations

from sqlext.dialect.emit import aliases, nodes
from sqlext.errors import SqlExtError


def can_finish(trigger: nodes.Trigger) -> bool:
    """Whether a trigger may come to an end, so that ONCE closes the group then.

    CASE and USING TRIGGER are triggers as Flink's, which have no end.
    """
    if isinstance(trigger, (nodes.AllOf, nodes.EachOf)):
        return all(can_finish(part) for part in trigger.parts)
    if isinstance(trigger, nodes.AnyOf):
        return any(can_finish(part) for part in trigger.parts)
    if isinstance(trigger, nodes.Until):
        return can_finish(trigger.main) or can_finish(trigger.until)
    if isinstance(trigger, (nodes.Timeout, nodes.Purging)):
        return can_finish(trigger.of)
    if isinstance(trigger, nodes.AfterWatermark):
        # Without LATE it finishes at the on-time pane (M18 of EMIT.md), also with EARLY.
        return trigger.late is None
    return isinstance(trigger, (nodes.AfterCount, nodes.AfterDelay, nodes.AfterIdle, nodes.AfterDelta, nodes.When))


def check(clause: nodes.EmitClause) -> None:
    """Refuse a clause whose parts contradict each other.

    Raises:
        SqlExtError: EMIT-017, EMIT-020, EMIT-021, EMIT-022, EMIT-027.
    """
    _check_window_close(clause)
    if clause.once and not can_finish(clause.trigger):
        message = "ONCE has no effect on a trigger that never finishes"
        raise SqlExtError("EMIT-017", message, span=clause.place("once"))
    _check_mode(clause)
    _check_late(clause)


def _check_window_close(clause: nodes.EmitClause) -> None:
    for node in clause.trigger.walk():
        if isinstance(node, nodes.WindowClose) and node is not clause.trigger:
            raise aliases.combined(node)


def _check_mode(clause: nodes.EmitClause) -> None:
    changelog = clause.output == "CHANGELOG"
    if changelog and clause.mode not in (None, "RETRACTING"):
        message = f"CHANGELOG output needs RETRACTING panes, not {clause.mode}"
        raise SqlExtError("EMIT-027", message, span=clause.place("mode"))
    if clause.evictor is not None and (changelog or clause.mode == "RETRACTING"):
        place = clause.place("mode" if clause.mode else "output")
        raise SqlExtError("EMIT-020", "RETRACTING cannot be used with KEEP or EVICT", span=place)


def _check_late(clause: nodes.EmitClause) -> None:
    """Refuse a firing for late rows where no row can be late."""
    for node in clause.trigger.walk():
        if not isinstance(node, nodes.AfterWatermark) or clause.lateness:
            continue
        if node.late is not None and not isinstance(node.late, nodes.Never) and node.late_span is not None:
            word = node.late_span.text.upper() == "LATE"
            message = (
                f"{'LATE' if word else 'an AFTER WATERMARK policy'} needs ALLOW LATENESS greater than zero; "
                f"without it no row arrives after the watermark{' (LATE NEVER is always allowed)' if word else ''}"
            )
            hint = "add ALLOW LATENESS 1h at the end of EMIT"
            raise SqlExtError("EMIT-021", message, span=node.late_span, hint=hint)
