"""A warning where a query that does not end keeps state that nothing bounds."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from sqlext.plan.nodes import PlanNode
from sqlext.plan.stateful import unbounded_states
from sqlext.spark.notices import Notice


class UnboundedStateWarning(Notice):
    """The state of a step grows as long as its query runs."""


def warn_of_unbounded_state(plans: Iterable[PlanNode]) -> None:
    """Warn of each step of some plans whose state nothing bounds, by the clause that asks for it."""
    for what in dict.fromkeys(state.what for plan in plans for state in unbounded_states(plan)):
        message = f"nothing bounds the state of {what}; SET 'sqlext.unbounded-state' = 'error' refuses such queries"
        warnings.warn(message, UnboundedStateWarning, stacklevel=2)
