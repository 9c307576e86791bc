"""Say which numbers of a policy its state does not know, so that they may change while windows are open.

A trigger keeps counts and its next deadlines. What it counts up to stands in the policy alone, and so does how far away
the deadline after the next one is. How long a window takes rows after its end does too. A window that is gone stays
gone under a longer lateness (``WindowSpecification.closed``).
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterIdle,
    AfterWatermark,
    Delay,
    EveryPeriod,
    EveryRow,
    Trigger,
    tree,
)

#: Class -> the field that may be another number. Aligned periods are none: a deadline may stand between two of them.
_FREE: dict[type[Any], str] = {AfterCount: "n", EveryPeriod: "ms", AfterIdle: "ms", Delay: "ms"}


class PolicyNumbers(NamedTuple):
    """The numbers that may change.

    Attributes:
        lateness: to any but 0: windows that go at their end have a state of another form.
        counts: of triggers that cut micro-batches, in their order: only to larger ones, as more rows may be counted.
    """

    lateness: int
    counts: tuple[int, ...]

    @classmethod
    def of(cls, policy: Policy) -> PolicyNumbers:
        """Return those of a policy."""
        exact = (t.n for t in tree(policy.trigger) if isinstance(t, AfterCount) and not t.at_least)
        return cls(policy.lateness, tuple(exact))

    def may_become(self, others: PolicyNumbers) -> bool:
        """Whether open windows can go on under other numbers of the same form."""
        return len(self.counts) == len(others.counts) and all(map(int.__le__, self.counts, others.counts))


def without_trigger(policy: Policy) -> Policy | None:
    """Return the form of a policy whatever fires and however late rows may be; None where its state is only for these.

    AFTER WATERMARK stays: of it EARLY and LATE may be any.
    """
    trigger = policy.trigger
    if policy.once or policy.gives_one_pane:
        return None
    any_: Trigger = EveryRow()
    if isinstance(trigger, AfterWatermark):
        any_ = AfterWatermark(delay=trigger.delay, timeout=trigger.timeout)
    return replace(form_of(policy), trigger=any_, lateness=0)


def carries(before: Trigger | None, now: Trigger | None) -> bool:
    """Whether a trigger goes on with what another one knows: they are the same but for numbers that may change."""
    if before is None or now is None or _form(before) != _form(now):
        return False
    counts = [[t.n for t in tree(of) if isinstance(t, AfterCount) and not t.at_least] for of in (before, now)]
    return all(map(int.__le__, *counts))


def form_of(policy: Policy) -> Policy:
    """Return a policy without the numbers that may change: policies of one form have the same state."""
    formed = {f.name: _form(getattr(policy, f.name)) for f in fields(policy)}
    return Policy(**{**formed, "lateness": int(policy.lateness > 0)})


def _form(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_form, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    free = _FREE.get(type(value))
    return type(value)(**{f.name: 0 if f.name == free else _form(getattr(value, f.name)) for f in fields(value)})
