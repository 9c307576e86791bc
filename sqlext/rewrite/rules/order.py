"""List the rewrite rules in order, and apply them."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.plan.base import PlanNode, contains
from sqlext.plan.grouping import Aggregate
from sqlext.rewrite.rules.combine_where_read import with_combining
from sqlext.rewrite.rules.event_time import (
    place_watermarks,
    tag_custom_windows,
    tag_unions,
    tag_watermark_expressions,
    tag_window_times,
)

Rule = Callable[[PlanNode], PlanNode]


def combine_where_read(plan: PlanNode) -> PlanNode:
    """Return the plan ``with_combining`` where it has groupings, which alone need that."""
    return with_combining(plan) if contains(plan, Aggregate) else plan


#: The tag_* rules come after ``place_watermarks``, because they look at ``Scan.watermarked``.
#: The last rule only notes a permission, which the renderer uses.
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
