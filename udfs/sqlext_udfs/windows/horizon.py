"""Compute up to which window end all panes are out, for policies of one pane per key and window."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext_udfs.kernel.clock import AFTER_ALL, BEFORE_ALL, Clock, Wakeup
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.tree import AfterWatermark


@dataclass(frozen=True, slots=True)
class Horizon:
    """When windows are over: a window is over if it ends at or before the horizon of the watermark.

    Attributes:
        delay: how long (ms) after its end a window gives its pane: the delay of the watermark, and lateness.
        lateness: how much of the delay (ms) is lateness: rows may come to a window whose end the watermark has passed.
        closed: as of ``WindowSpecification``.
    """

    delay: int
    lateness: int
    closed: int = BEFORE_ALL

    def over(self, clock: Clock) -> int:
        """Return up to which end windows give their pane."""
        return _bounded(clock.watermark, self.delay)

    def late(self, clock: Clock) -> int:
        """Return up to which end windows take no more rows (rule M7: by the watermark of the batch before)."""
        return max(_bounded(clock.late_watermark, self.delay), self.closed)

    def passed(self, clock: Clock) -> int:
        """Return up to which end rows that come now are behind the watermark."""
        return _bounded(clock.late_watermark, self.delay - self.lateness)

    def watermark(self, end: int) -> int:
        """Return the least watermark whose horizon is a window's end."""
        return min(end + self.delay, Clock.END)

    def wakeup(self, end: int | None) -> Wakeup:
        """Return when the window that ends first is over; ``end`` is None where there is none."""
        return Wakeup(None if end is None else self.watermark(end))


@dataclass(frozen=True, slots=True)
class ClockHorizon:
    """When windows of processing time are over: when the batch clock has come to their end. No row is late."""

    def over(self, clock: Clock) -> int:
        """Return up to which end windows give their pane."""
        assert clock.now is not None, "windows of processing time need the batch clock"
        return clock.now

    def late(self, clock: Clock) -> int:
        """Return up to which end windows take no more rows."""
        return BEFORE_ALL

    def wakeup(self, end: int | None) -> Wakeup:
        """Return when the window that ends first is over; ``end`` is None where there is none."""
        return Wakeup(processing=end)


def horizon_of(policy: Policy, closed: int = BEFORE_ALL) -> Horizon | ClockHorizon | None:
    """Return when a policy's windows are over, by the watermark or by the clock; None for more than one pane.

    Args:
        policy: what to do.
        closed: as of ``WindowSpecification``.
    """
    if policy.processing_time:
        return ClockHorizon() if policy.trigger == AfterWatermark() and policy.evictor is None else None
    return single_pane_horizon(policy, closed)


def single_pane_horizon(policy: Policy, closed: int = BEFORE_ALL) -> Horizon | None:
    """Return when a policy's windows are over, if it gives each key and window exactly one pane; else None.

    Args:
        policy: what to do.
        closed: as of ``WindowSpecification``.
    """
    if not policy.gives_one_pane:
        return None
    # The window ends 1 ms earlier where its last millisecond counts, as in Flink.
    early = 1 if policy.options.window_end == "last_ms" else 0
    return Horizon(policy.delay + policy.lateness - early, policy.lateness, closed)


def closed_until(policy: Policy, watermark: int) -> int:
    """Return the last end of a window that is over at a watermark (ms), which lateness has been taken from."""
    # The window ends 1 ms earlier where its last millisecond counts.
    return watermark - policy.delay + (policy.options.window_end == "last_ms")


def policy_wakeup(policy: Policy, deadlines: Wakeup) -> Wakeup:
    """Return when to wake up: deadlines are of the watermark as the policy holds it back, or of the batch clock."""
    event, processing = deadlines
    if policy.processing_time:
        # The windows end by the batch clock. At the end of input they are counted, not written (rule M14).
        return Wakeup(None, min((t for t in (event, processing) if t is not None), default=None))
    return Wakeup(None if event is None else min(event + policy.delay, Clock.END), processing)


def _bounded(watermark: int | None, delay: int) -> int:
    if watermark is None:
        return BEFORE_ALL
    return AFTER_ALL if watermark >= Clock.END else max(BEFORE_ALL, min(watermark - delay, AFTER_ALL))
