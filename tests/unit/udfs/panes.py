"""Short forms for the tests of the window engine."""

from __future__ import annotations

from typing import Any

from sqlext_udfs.windows.policy import Global, Policy, Tumble, WindowKind
from sqlext_udfs.windows.triggers.tree import AfterDelay, Align, Delay, Trigger
from tests.window_simulation import Row, Simulation, Step

NO_WINDOW = Global()
TEN = Tumble(10)


def run(window: WindowKind, trigger: Trigger, hooks: dict[str, Any] | None = None, **policy: Any) -> Simulation:
    """Return a simulation of a policy."""
    return Simulation(Policy(window, trigger, **policy), hooks or {})


def at(*times: int, key: str = "k") -> list[Row]:
    """Return rows of one key whose value is their event time."""
    return [Row(key, ts, ts) for ts in times]


def valued(*values: float) -> list[Row]:
    """Return rows of one key whose value is what triggers look at."""
    return [Row("k", value, 0, (float(value),)) for value in values]


def values(step: Step) -> list[tuple[Any, ...]]:
    """Return the values of each pane."""
    return [pane.values for pane in step.panes]


def timed(step: Step) -> list[tuple[str, tuple[Any, ...]]]:
    """Return timing and values of each pane."""
    return [(pane.timing, pane.values) for pane in step.panes]


def after(ms: int) -> AfterDelay:
    """Return AFTER DELAY."""
    return AfterDelay((Delay(ms),))


def aligned(period: int, offset: int = 0) -> AfterDelay:
    """Return AFTER PROCESSING TIME ALIGNED TO."""
    return AfterDelay((Align(period, offset),))
