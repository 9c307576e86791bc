"""Find the parts of an EMIT clause by which nothing can ever come out."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from sqlext.analysis.grouping.group_by import Grouped
from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.emit import nodes as e
from sqlext.dialect.emit.checks import can_finish
from sqlext.dialect.emit.printing import trigger_text
from sqlext.plan.base import walk
from sqlext.plan.firing import Silent
from sqlext.plan.nodes import Scan, WindowKind, WindowSpec
from sqlext.quoting import duration

#: Windows that begin or end with their rows.
_OF_ROWS = (WindowKind.SESSION, WindowKind.SLIDE)


def silent_parts(grouped: Grouped) -> tuple[Silent, ...]:
    """Return the parts of a grouping's EMIT clause that never fire.

    NEVER alone is meant where a window closes, and so is it behind EARLY and LATE.
    """
    clause = grouped.select.emit
    if clause is None:
        return ()
    if not grouped.node.streaming:
        return (Silent(clause.span, "EMIT has no effect: these rows stand still, and come out once"),)
    spec = grouped.assign.spec if grouped.assign is not None else None
    return tuple(_silent(grouped, clause, spec))


def _silent(grouped: Grouped, clause: e.EmitClause, spec: WindowSpec | None) -> Iterator[Silent]:
    meant = {id(clause.trigger)} if spec is not None else set()
    for trigger in clause.trigger.walk():
        if isinstance(trigger, e.AfterWatermark):
            meant |= {id(trigger.early), id(trigger.late)}
            yield from _early(trigger.early, spec, _wait(grouped))
        elif isinstance(trigger, e.EachOf):
            yield from _behind_the_last(trigger)
        elif isinstance(trigger, e.Never) and id(trigger) not in meant:
            end = "" if clause.trigger is not trigger else ": without a window nothing comes out before the input ends"
            yield Silent(trigger.span, f"NEVER does not fire{end}")


def _wait(grouped: Grouped) -> int | None:
    """Return how long (ms) windows wait for late rows behind their ends; None where that is not known."""
    scans = [n for n in walk(grouped.node) if isinstance(n, Scan) and n.streaming]
    if any(scan.delay is None or scan.marked for scan in scans):
        return None
    return max((scan.delay or 0 for scan in scans), default=None)


def _early(early: e.Trigger | None, spec: WindowSpec | None, wait: int | None) -> Iterator[Silent]:
    """Yield periods of event time that no window has an end of inside, and delays longer than windows are open.

    A clock is compared with event time: the message says that this holds while rows come.
    """
    for trigger in early.walk() if early is not None else ():
        if isinstance(trigger, e.EveryEventTime) and spec is not None and not _falls_inside(trigger.ms, spec):
            text = trigger_text(trigger)
            yield Silent(trigger.span, f"{text} does not fire early: no multiple of it lies inside of a window")
        elif spec is None or spec.kind in _OF_ROWS or wait is None:
            continue
        elif _delay(trigger) > spec.size + wait:
            open_for = duration(spec.size + wait)
            text = f"{trigger.span.one_line} does not fire early while rows come: a window closes after {open_for}"
            yield Silent(trigger.span, text)


def _delay(trigger: Node) -> int:
    """Return how long after the first row a trigger fires at the earliest, in ms of the clock; 0 for others."""
    if isinstance(trigger, e.AfterDelay):
        return sum(t.ms for t in trigger.transforms if isinstance(t, e.Delay))
    return trigger.ms if isinstance(trigger, e.EveryPeriod) else 0


def _falls_inside(period: int, spec: WindowSpec) -> bool:
    """Whether a multiple of ``period`` ms lies between the start and the end of some window."""
    # Starts of calendar windows are no grid, nor those of rows with their own offsets: some lie right for most periods.
    if spec.kind in _OF_ROWS or spec.months is not None or spec.row_offset is not None:
        return True
    # Windows start at offset + k * step. Multiples of the period lie behind such starts by all numbers that are
    # -offset modulo gcd(period, step); the smallest of them above zero must be shorter than the window.
    step = spec.slide if spec.kind is WindowKind.HOP else spec.size
    grid = gcd(period, step)
    return (-spec.offset % grid or grid) < spec.size


def _behind_the_last(sequence: e.EachOf) -> Iterator[Silent]:
    """Yield what stands behind a step that never ends."""
    for before, part in zip(sequence.parts, sequence.parts[1:], strict=False):
        if not can_finish(before):
            yield Silent(part.span, f"{trigger_text(part)} does not fire: {trigger_text(before)} before it never ends")
            return
