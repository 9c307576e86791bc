"""What classes for ``session.register_trigger``, ``register_evictor`` and ``register_aggregate`` are written with.

The hooks are described where they are called: ``sqlext_udfs.windows.triggers.hooks`` (``UserTrigger``),
``sqlext_udfs.windows.evictors`` (``UserEvictor``) and ``sqlext_udfs.aggregates.hooks`` (``UserAggregate``).
"""

from __future__ import annotations

from sqlext_udfs.windows.triggers.hooks import Action, TriggerContext

__all__ = ["Action", "Trigger", "TriggerContext"]


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
