"""Write triggers, evictors and aggregates of your own: the hooks that a class must have.

``UserTrigger``, ``UserEvictor`` and ``UserAggregate`` are protocols: a class needs the methods, not the base class.
``Trigger`` is a base class that does nothing at timers. Register a class with ``Session.register_trigger``,
``register_evictor`` or ``register_aggregate``.
"""

from __future__ import annotations

from sqlext_udfs.aggregates.hooks import UserAggregate
from sqlext_udfs.windows.evictors import UserEvictor
from sqlext_udfs.windows.triggers.hooks import Action, TriggerContext, UserTrigger

__all__ = ["Action", "Trigger", "TriggerContext", "UserAggregate", "UserEvictor", "UserTrigger"]


class Trigger:
    """A trigger that does nothing at its timers. It has no ``on_merge``: without one it is refused over sessions."""

    def on_row(self, rowtime: int | None, values: tuple[float, ...], context: TriggerContext) -> Action:
        """Say what to do at a row: its event time (ms), and its values of the arguments that are no constants."""
        return Action.CONTINUE

    def on_event_time(self, time: int, context: TriggerContext) -> Action:
        """Say what to do when the watermark has passed a timer, which is gone already."""
        return Action.CONTINUE

    def on_processing_time(self, time: int, context: TriggerContext) -> Action:
        """Say what to do when the batch clock has passed a timer, which is gone already."""
        return Action.CONTINUE

    def clear(self, context: TriggerContext) -> None:
        """Forget state and timers."""
        context.state.clear()
        context.event_timers.clear()
        context.processing_timers.clear()
