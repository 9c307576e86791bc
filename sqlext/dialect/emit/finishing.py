"""Which triggers can finish: those are repeated for ever, unless the clause says ONCE."""

from __future__ import annotations

from sqlext.dialect.emit import nodes


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
        return trigger.late is None
    return isinstance(trigger, (nodes.AfterCount, nodes.AfterDelay, nodes.AfterIdle, nodes.AfterDelta, nodes.When))
