"""Turn updating results into changelogs, for operators that read them."""

from __future__ import annotations

from dataclasses import replace

from sqlext.errors import SqlExtError
from sqlext.plan.base import PlanNode
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import WindowKind, WindowSpec
from sqlext.plan.panes import changed_groupings, readable
from sqlext.source import Span
from sqlext_udfs.windows.triggers.tree import AfterCount, Repeat


def every_change(node: PlanNode) -> PlanNode:
    """Return a relation as ``readable`` does, whose changes are looked at one by one.

    A GROUP BY without EMIT then gives one for each row, as Flink's does; other operators, and a GROUP BY of changes,
    give the net changes of a micro-batch.
    """
    return changed_groupings(node, _each_row) if node.updating else node


def windowed_changes(node: PlanNode, spec: WindowSpec, span: Span) -> PlanNode:
    """Return a relation whose rows get windows; where rows may change, they say what they do to the result.

    Raises:
        SqlExtError: WINDOW-012 for SLIDE, and for sessions with a maximum.
    """
    node = readable(node)
    if node.changelog and (spec.kind is WindowKind.SLIDE or spec.limit is not None):
        limited = " with a maximum length" if spec.limit is not None else ""
        raise changes_below(span, f"{spec.kind.value}{limited}")
    return node


def changes_below(span: Span, clause: str) -> SqlExtError:
    """Return WINDOW-012 for a clause that needs rows which stay as they are."""
    return SqlExtError(
        "WINDOW-012",
        f"{clause} cannot stand over rows that change after they were given out",
        span=span,
        hint="group without it, or make the rows below final: by a window, or EMIT ... DISCARDING",
    )


def _each_row(grouping: Aggregate) -> Aggregate:
    made = grouping.read_on()
    firing = made.firing
    # EMIT says itself when groups come out. Over changes, or with a ttl, the net of a micro-batch comes out.
    if made is grouping or firing is None or firing.emit or grouping.input.changelog or firing.ttl:
        return made
    policy = replace(firing.policy, trigger=Repeat(AfterCount(1)))
    return replace(made, firing=replace(firing, policy=policy))
