"""The node of GROUP BY: by a window, whose rows come once, or without one, whose rows change."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import GroupingSets
from sqlext.plan.base import EXISTS, KIND, LATE, PlanNode
from sqlext.plan.firing import Firing, Silent, late_parts
from sqlext.plan.nodes import Aliased, AssignWindows, Join, Selecting, TagTime, WindowKind
from sqlext.plan.normal_form import column_form, condition_parts, expression_form, value_form
from sqlext.plan.stateful import Stateful
from sqlext.plan.windows.session_rows import SessionRows
from sqlext.source import Span
from sqlext_udfs.windows.policy import Global
from sqlext_udfs.windows.policy_json import policy_to_json
from sqlext_udfs.windows.policy_state import PolicyNumbers, form_of, without_trigger

#: The name of a part for what the state of open windows knows of an EMIT clause.
OPEN_WINDOWS = "open windows"
#: The text of such a part of windows whose state is for one EMIT clause alone.
NO_NUMBERS = "[]"
#: The name of a part for the same, whatever the trigger is.
ANY_TRIGGER = f"{OPEN_WINDOWS} under any trigger"


class Combining(Enum):
    """Whether an operator of ours may keep groups that Spark could keep, of rows that Arrow combines as it reads."""

    NEVER = "never"
    WHERE_CHEAPER = "where that costs less"
    BELOW_OURS = "below operators of ours"
    AT_ONCE = "in a query that is one batch"


@dataclass(frozen=True, slots=True)
class GroupKeys:
    """What rows are grouped by.

    Attributes:
        items: the items of GROUP BY without the window's columns.
        expressions: every single expression among them, those inside GROUPING SETS too.
        window: the physical window struct among them.
        hidden: physical columns that hold the key of an updating result.
        constant: the column of which Spark makes the key that a session without keys needs.
    """

    items: tuple[Expr | GroupingSets, ...]
    expressions: tuple[Expr, ...]
    window: str | None = None
    hidden: tuple[str, ...] = ()
    constant: str | None = None

    @property
    def texts(self) -> list[str]:
        """The grouping expressions as they are written."""
        return [i.span.text for i in self.items]

    @property
    def named(self) -> str:
        """All of them, as EXPLAIN names them; empty without any."""
        return ", ".join([*(["the window"] if self.window else []), *self.texts])


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(Selecting, Stateful):
    """SELECT with grouping.

    Attributes:
        by: the keys.
        having: HAVING.
        firing: how an operator of ours keeps the groups of a stream, or would; None over rows that stand still.
        retracts: whether it gives rows that take back others too, and each row says what it does to the result.
        combining: whether an operator of ours may keep it although Spark could; a rule decides.
        silent: the parts of its EMIT clause that can never fire.
        filled: the table whose keys FILL fills; None where it fills those with rows.
    """

    by: GroupKeys
    having: Expr | None = None
    firing: Firing | None = None
    retracts: bool = False
    combining: Combining = Combining.WHERE_CHEAPER
    silent: tuple[Silent, ...] = ()
    filled: PlanNode | None = None

    function: ClassVar[str] = "window"

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The rows that are grouped, and the table whose keys are filled."""
        return (self.input,) if self.filled is None else (self.input, self.filled)

    def with_inputs(self, inputs: tuple[PlanNode, ...]) -> PlanNode:
        """Return it over other inputs of the same columns."""
        return replace(self, input=inputs[0], filled=inputs[1] if self.filled is not None else None)

    @property
    def windowed(self) -> PlanNode | None:
        """The rows that are grouped."""
        return self.input

    @property
    def kept(self) -> Firing | None:
        """How an operator of ours keeps it, None where Spark's own does or nothing is kept."""
        return self.firing if self.firing is not None and self.firing.why else None

    @property
    def updating(self) -> bool:
        """Whether a group's row may change after it was given out."""
        # One that retracts is a changelog: each of its rows says itself what it does.
        return not self.retracts and self.firing is not None and self.firing.panes == "last"

    @property
    def keys(self) -> tuple[str, ...]:
        """Its hidden key columns if its result is updating."""
        return self.by.hidden if self.updating else ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """What it adds of its own."""
        late = (LATE,) if self.kept is not None and self.kept.late is not None else ()
        return ((*self.keys, EXISTS) if self.updating else ()) + late + ((KIND,) if self.retracts else ())

    @property
    def keeps_state(self) -> bool:
        """Over a stream only."""
        return self.streaming

    @property
    def ttl(self) -> int | None:
        """Of groups without a window."""
        return self.kept.ttl if self.kept is not None else None

    @property
    def event_time(self) -> bool:
        """Whether the watermark ends windows, or its trigger asks for it."""
        return self.kept.event_time if self.kept is not None else self.by.window is not None

    @property
    def lag(self) -> int:
        """How much later come windows without rows that wait for the next one, and sessions that a row may touch."""
        fill = self.kept.fill if self.kept is not None else None
        assign = self.assignment()
        touched = assign is not None and assign.spec.limit is not None and not isinstance(assign, SessionRows)
        return self.input.lag + (fill.ms if fill is not None and fill.joins else 0) + touched

    @property
    def uses_clock(self) -> bool:
        """Whether its trigger or the time to live asks for processing time."""
        return self.kept is not None and self.kept.uses_clock

    @property
    def waits(self) -> bool:
        """Whether each window gives one row, of all its rows."""
        return self.by.window is not None and (self.kept is None or self.kept.closes_once)

    @property
    def appends(self) -> bool:
        """Only if it waits: which panes come before the last one depends on what is there when a trigger fires."""
        return self.waits

    @property
    def settles(self) -> bool:
        """Not under EMIT: which rows its last pane holds may depend on when a trigger has fired before."""
        return self.waits or not (self.uses_clock or (self.kept is not None and self.kept.emit))

    @property
    def ends(self) -> bool:
        """Whether its trigger must be told that the input has ended."""
        return self.kept is not None and self.kept.ends

    @property
    def what(self) -> str:
        """Its keys; an aggregate without keys keeps rows that change."""
        keys = ", ".join(i.span.one_line for i in self.by.items)
        return f"GROUP BY {keys} without a window" if keys else "an aggregate of rows that change"

    @property
    def bound(self) -> str:
        """What ends its groups; without keys it has one row of accumulators, but keeps rows that change."""
        if self.by.window is not None:
            fill = self.kept.fill if self.kept is not None else None
            return f"until the window ends; {fill.bound}" if fill is not None else "until the window ends"
        policy = self.kept.policy if self.kept is not None else None
        if policy is not None and (policy.once or not isinstance(policy.window, Global)):
            return "until the group is closed"
        # Of a changelog, aggregates such as MAX need the rows themselves, and nothing bounds these.
        if not self.by.items and not self.input.changelog:
            return "one row"
        return ", ".join(self._lives())

    @property
    def clause(self) -> Span | None:
        """The first key."""
        return self.by.items[0].span if self.by.items else None

    @property
    def why(self) -> tuple[str, ...]:
        """Why an operator of ours keeps it, if one does."""
        return self.kept.why if self.kept is not None else ()

    @property
    def detail(self) -> str:
        """Its keys, and when windows come out."""
        keys = self.by.texts
        if self.by.window is None:
            return f"by {', '.join(keys) or 'nothing'}"
        when = "emitted when the watermark passes the window" if self.kept is None else "window operator"
        return f"by window{', ' if keys else ''}{', '.join(keys)}; {when}"

    def parts(self) -> Iterator[tuple[str, str, object]]:
        """Yield what its groups depend on, and how an operator of ours keeps them."""
        items = self.by.items
        shown = ", ".join(i.span.one_line for i in items) or "nothing"
        window = column_form(self.by.window, self.input.columns) if self.by.window else None
        form = ([expression_form(i, self.scope) for i in items], window)
        yield "GROUP BY", f"the window, {shown}" if self.by.window else shown, form
        # Hidden keys only repeat GROUP BY, which is a part already.
        yield from self.selected_parts(without=self.by.hidden)
        yield from condition_parts("HAVING", self.having, self.scope)
        if self.kept is not None:
            yield from self._firing_parts(self.kept)

    def _firing_parts(self, firing: Firing) -> Iterator[tuple[str, str, object]]:
        values = [value_form(v, self.scope) for v in firing.values]
        yield "EMIT", firing.emit or "by default", (policy_to_json(firing.policy), firing.given, values)
        yield from _open_windows(firing, values, changes=self.input.changelog)
        if firing.fill is not None:
            filled = [(c.physical, c.kind, value_form(c.value, self.scope)) for c in firing.fill.columns]
            fill = firing.fill
            # Keys that are all in one bucket, as they once were, cannot be told apart later.
            what = f"{fill.ms} ms" if fill.table is None else f"EACH KEY OF {fill.table}, keys in their buckets"
            keys = (fill.table, fill.keys, "spread") if fill.table is not None else ()
            yield "FILL", f"FOR {what}", (fill.ms, filled, *keys)
        for name, implementation in firing.using:
            yield f"USING {name}", implementation, implementation
        if firing.late is not None:
            yield from late_parts(firing.late, self.without_windows().columns)

    def read_on(self) -> Aggregate:
        """Return it, if its result is updating, with rows that take back those that they replace."""
        if not self.updating or self.firing is None:
            return self
        return replace(self, retracts=True, firing=self.firing.read_on())

    def assignment(self) -> AssignWindows | None:
        """Return where its rows get the window that it groups by, None without one."""
        return window_function(self.input) if self.by.window is not None else None

    def without_windows(self) -> PlanNode:
        """Return its input without the window function that stands in its FROM."""
        below = self.input
        inner = below.input if isinstance(below, Aliased) else below
        # The rewrite rules put a tag above a custom window.
        while isinstance(inner, (TagTime, AssignWindows)):
            inner = inner.input
        # The alias stays: expressions above qualify columns by it.
        return replace(below, input=inner, columns=inner.columns) if isinstance(below, Aliased) else inner


def _open_windows(firing: Firing, values: Sequence[object], *, changes: bool) -> Iterator[tuple[str, str, object]]:
    """Yield what the state of open windows depends on, with the numbers that may change as text.

    There is one of each part for each EMIT clause, so that they are counted alike.

    Args:
        values: the forms of what triggers look at.
        changes: whether the rows that are grouped are changes.
    """
    numbers, policy = json.dumps(PolicyNumbers.of(firing.policy)), firing.policy
    whole = (NO_NUMBERS, (policy_to_json(policy), firing.given, values))
    # Operators of rows that change, and those with a time to live, have one trigger.
    form = without_trigger(policy) if firing.ttl is None and not changes else None
    if firing.using or firing.fill is not None:
        yield OPEN_WINDOWS, *whole
        yield ANY_TRIGGER, *whole
        return
    yield OPEN_WINDOWS, numbers, (policy_to_json(form_of(policy)), firing.given, values)
    if form is None:
        yield ANY_TRIGGER, *whole
    else:
        yield ANY_TRIGGER, numbers, (policy_to_json(form), firing.given, values)


def window_function(node: PlanNode) -> AssignWindows | None:
    """Return where the rows of a relation got the windows that they carry, None if they have none.

    A grouping by windows hands them on, and so does a join: its static side has none. Sessions are known only when
    they are grouped or their rows are looked at: through a join they are none yet.
    """
    joined = False
    while not isinstance(node, AssignWindows):
        below = node.windowed
        if below is None:
            return None
        joined = (joined or isinstance(node, Join)) and not isinstance(node, Aggregate)
        node = below
    unknown = joined and node.spec.kind is WindowKind.SESSION and not isinstance(node, SessionRows)
    return None if unknown else node
