"""List the rewrite rules in order, and apply them."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.plan.nodes import PlanNode
from sqlext.rewrite.rules.combine_where_read import combine_where_read
from sqlext.rewrite.rules.event_time import (
    place_watermarks,
    tag_custom_windows,
    tag_unions,
    tag_watermark_expressions,
    tag_window_times,
)

Rule = Callable[[PlanNode], PlanNode]

RULES: tuple[Rule, ...] = (
    place_watermarks,
    tag_watermark_expressions,
    tag_unions,
    tag_window_times,
    tag_custom_windows,
    combine_where_read,
)


def apply_rules(plan: PlanNode) -> PlanNode:
    """Return the plan after every rule."""
    for rule in RULES:
        plan = rule(plan)
    return plan
