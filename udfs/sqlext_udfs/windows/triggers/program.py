"""Compile the trigger of a policy."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeVar

from sqlext_udfs.windows.policy import Policy, Session
from sqlext_udfs.windows.triggers import composites, nodes, row_nodes, tree
from sqlext_udfs.windows.triggers import phase_nodes as phases
from sqlext_udfs.windows.triggers import time_nodes as times
from sqlext_udfs.windows.triggers.hooks import Conditions, Triggers
from sqlext_udfs.windows.triggers.nodes import TriggerLayout, TriggerNode
from sqlext_udfs.windows.triggers.rules import can_finish, not_mergeable

_T = TypeVar("_T")


class TriggerProgram:
    """The compiled trigger of a policy.

    Args:
        policy: whose trigger it is.
        conditions, triggers: those of users, by the names that the policy has for them.

    Attributes:
        root: the outermost node, which the engine asks.
        kinds: what each slot has (``int``, ``float``, ``json``): the columns of its state.
        initial: what the slots begin with.
        words: how many 62-bit numbers its bits need.
        phases: of AFTER WATERMARK, where bits and slots of EARLY and LATE are, of those that there are.
        over: its bit that LATE has the word; 0 for other triggers.
        waits_for_end: whether the watermark at the window's end may make a pane.
        has_clock_deadlines, has_event_deadlines: whether it has other deadlines.

    Raises:
        ValueError: if the trigger cannot be used with sessions, or a name is not registered.
    """

    def __init__(self, policy: Policy, conditions: Conditions, triggers: Triggers) -> None:
        if isinstance(policy.window, Session) and (refused := not_mergeable(policy.trigger)) is not None:
            raise ValueError(f"{type(refused).__name__} does not support merging and cannot be used with sessions")
        # Nodes ask for bits and slots in the order of the tree: that order is the form of the state.
        compiler = _Compiler(policy, conditions, triggers)
        root = compiler.node(policy.trigger)
        # Without ONCE a trigger that has finished starts afresh.
        self.root: TriggerNode = root if policy.once else composites.RepeatNode(compiler.layout, root)
        self.kinds = tuple(compiler.layout.kinds)
        self.initial = tuple(compiler.layout.initial)
        self.words = -(-compiler.layout.bits // WORD_BITS)
        self.phases, self.over = compiler.phases, root.over if isinstance(root, phases.WatermarkNode) else 0
        self.waits_for_end = any(node.waits_for_end for node in self.root.tree())
        self.has_clock_deadlines = any(node.has_clock_deadlines for node in self.root.tree())
        self.has_event_deadlines = any(node.has_event_deadlines for node in self.root.tree())


class PhaseState(NamedTuple):
    """Where a part of a trigger keeps what it knows: its first bit and how many, its first slot and how many."""

    bit: int
    bits: int
    slot: int
    slots: int


#: Bits in one column of state: with these a BIGINT is never negative.
WORD_BITS = 62


class _Compiler:
    def __init__(self, policy: Policy, conditions: Conditions, triggers: Triggers) -> None:
        self.layout = TriggerLayout()
        self.phases: dict[str, PhaseState] = {}
        self.conditions, self.triggers = conditions, triggers
        self.sticky = policy.options.early_composite == "sticky"
        margin = 1 if policy.options.window_end == "last_ms" else 0
        self.end_margin = margin if policy.processing_time else None

    def node(self, trigger: tree.Trigger) -> TriggerNode:
        """Return the node of a trigger."""
        return self._of_rows(trigger) or self._of_time(trigger) or self._composite(trigger)

    def _of_rows(self, trigger: tree.Trigger) -> TriggerNode | None:
        layout = self.layout
        match trigger:
            case tree.AfterCount():
                return nodes.CountNode(layout, trigger.n, at_least=trigger.at_least)
            case tree.SameBatch():
                # A row has come, and the batch is over: that is the whole of it.
                return nodes.CountNode(layout, 1, at_least=True)
            case tree.EveryRow():
                return composites.RepeatNode(layout, nodes.CountNode(layout, 1, at_least=True))
            case tree.AfterDelta():
                return row_nodes.DeltaNode(layout, trigger)
            case tree.When():
                condition = _registered("condition", trigger.condition, self.conditions.get(trigger.condition))
                return row_nodes.WhenNode(layout, condition, trigger.columns)
            case tree.Case():
                return row_nodes.CaseNode(layout, trigger.column)
            case tree.Using():
                made = _registered("trigger", trigger.name, self.triggers.get(trigger.name))(*trigger.args)
                return row_nodes.UsingNode(layout, made, trigger.columns)
        return None

    def _of_time(self, trigger: tree.Trigger) -> TriggerNode | None:
        layout = self.layout
        match trigger:
            case tree.AfterDelay():
                return times.DelayNode(layout, trigger.transforms)
            case tree.EveryPeriod():
                return times.PeriodNode(
                    layout, trigger.ms, repeat=True, end_margin=self.end_margin, transforms=trigger.transforms
                )
            case tree.EveryAligned():
                return times.PeriodNode(
                    layout, trigger.ms, repeat=trigger.repeat, end_margin=self.end_margin, aligned=True
                )
            case tree.EveryEventTime():
                return times.EventPeriodNode(layout, trigger.ms, repeat=trigger.repeat)
            case tree.AfterIdle():
                return times.IdleNode(layout, trigger.ms, of_query=trigger.of_query)
            case tree.Never() | tree.WindowClose():
                return TriggerNode(layout)
        return None

    def _composite(self, trigger: tree.Trigger) -> TriggerNode:
        layout, node = self.layout, self.node
        match trigger:
            case tree.AllOf():
                return composites.AllNode(layout, *map(node, trigger.of))
            case tree.AnyOf():
                return composites.AnyNode(layout, *map(node, trigger.of))
            case tree.EachOf():
                return composites.EachNode(layout, *map(node, trigger.of))
            case tree.Until():
                return composites.UntilNode(layout, node(trigger.main), node(trigger.until))
            case tree.Repeat():
                return composites.RepeatNode(layout, node(trigger.of))
            case tree.Purging():
                return composites.PurgingNode(layout, node(trigger.of))
            case tree.Timeout():
                make = partial(phases.TimeoutNode, layout, node(trigger.of), trigger.ms)
                finishes = can_finish(trigger.of) and not trigger.keep_state
                return make(since_last=trigger.since_last_row, keep=trigger.keep_state, finishes=finishes)
            case tree.AfterWatermark():
                return self._watermark(trigger)
        raise TypeError(f"not a trigger: {trigger!r}")

    def _watermark(self, trigger: tree.AfterWatermark) -> TriggerNode:
        made: dict[str, TriggerNode | None] = {"early": None, "late": None}
        found = {}
        for name in made:
            part, bit, slot = getattr(trigger, name), self.layout.bits, len(self.layout.kinds)
            if part is not None:
                made[name] = self.node(part)
                found[name] = PhaseState(bit, self.layout.bits - bit, slot, len(self.layout.kinds) - slot)
        # The outermost one comes last.
        self.phases = found
        return phases.WatermarkNode(self.layout, made["early"], made["late"], sticky=self.sticky)


def _registered(kind: str, name: str, found: _T | None) -> _T:
    if found is None:
        raise ValueError(f"no {kind} is registered under the name {name}")
    return found
