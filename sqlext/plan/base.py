"""The base of all plan nodes: columns, inputs, and how rows change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlext.plan.columns import PlanColumn

#: Physical columns of an updating relation: its key, and whether the row exists (HAVING may take it away).
KEY_PREFIX = "__key_"
KEY_SET = "__key_set"  # which of the GROUPING SETS
KEY_WINDOW = ("__key_start", "__key_end")  # its window, in ms
KEY_ALL = "__key_all"  # of an aggregate without keys: one row
EXISTS = "__exists"
#: Physical column of a relation with late rows beside its own: the row and the watermark it met; NULL for its own.
LATE = "__late"
#: Physical column of a changelog: what a row does to the result, a number of ``sqlext_udfs.kernel.row_kinds``.
KIND = "__row_kind"
#: Physical column of a scan that upserts: of the records of one key the one with the largest is the last.
POSITION = "__position"


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A relation."""

    columns: tuple[PlanColumn, ...]

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The relations it reads, left to right."""
        return ()

    def with_inputs(self, inputs: tuple[PlanNode, ...]) -> PlanNode:
        """Return it with other inputs of the same columns."""
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """Physical key columns of an updating relation, empty for an append-only one."""
        return ()

    @property
    def row_by_row(self) -> bool:
        """Whether it gives one row for each that it takes."""
        return False

    @property
    def step(self) -> str:
        """What EXPLAIN and the fingerprints of checkpoints call a node of its class."""
        return type(self).__name__

    @property
    def event_time(self) -> bool:
        """Whether the watermark means anything to it: scans below it need one."""
        return False

    @property
    def updating(self) -> bool:
        """Whether rows already given out may change."""
        return any(i.updating for i in self.inputs)

    @property
    def streaming(self) -> bool:
        """Whether it reads a stream."""
        return any(i.streaming for i in self.inputs)

    @property
    def changelog(self) -> bool:
        """Whether each row says in ``KIND`` what it does to the result, and rows may be taken back."""
        return KIND in self.hidden

    @property
    def carries_late(self) -> bool:
        """Whether late rows come out of it beside its own, in ``LATE``."""
        return LATE in self.hidden

    @property
    def lag(self) -> int:
        """By how many ms its rows can be older than the watermark says: what waits for time above waits longer."""
        return max((i.lag for i in self.inputs), default=0)

    @property
    def windowed(self) -> PlanNode | None:
        """The input whose windows its rows carry: the only one, or the only one that is a stream; else None."""
        streams = [i for i in self.inputs if i.streaming] or self.inputs
        return streams[0] if len(streams) == 1 else None

    def transform(self, rule: Callable[[PlanNode], PlanNode]) -> PlanNode:
        """Return the tree with ``rule`` applied to every node, inputs first."""
        inputs = tuple(i.transform(rule) for i in self.inputs)
        return rule(self.with_inputs(inputs) if inputs else self)

    def physical_columns(self) -> tuple[str, ...]:
        """Return the physical columns in order, each once, hidden ones last."""
        # Several columns may share one physical one: a window's start, end and time are one struct.
        return tuple(dict.fromkeys((*(c.physical for c in self.columns if c.physical), *self.hidden)))

    @property
    def hidden(self) -> tuple[str, ...]:
        """Physical columns that no user sees, but whoever takes its rows: of updates, late rows, a changelog."""
        if self.updating:
            return (*self.keys, EXISTS)
        # Projections, filters and joins with static tables work row by row, so they hand the kind on.
        return (KIND,) if any(i.changelog for i in self.inputs) else ()


def contains(plan: PlanNode, kind: type[PlanNode]) -> bool:
    """Whether a plan has a node of a kind."""
    return any(isinstance(node, kind) for node in walk(plan))


def walk(plan: PlanNode) -> list[PlanNode]:
    """Return a plan's nodes, the top first."""
    return [plan, *(n for i in plan.inputs for n in walk(i))]
