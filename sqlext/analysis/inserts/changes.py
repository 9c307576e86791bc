"""Compare a query with the one that made its checkpoint, and tell which differences the checkpoint bears.

What is in no operator's state may change. That is time, in two kinds.

``TIME``   How fast the watermark moves: its delay or expression, idle timeouts, alignment, its interval. Spark keeps
           the watermark itself with the checkpoint and never takes it back: the query goes on from there.
``ROWS``   What becomes of a row of a micro-batch: how far ahead a rowtime may be, whether it may be NULL, which table
           keeps late or bad rows. It holds for rows that are read from now on. A micro-batch that had begun must end
           first: sinks may have some of its rows already, by the old rule.

``OWN``    Which sources the query has beside the user's: it was scheduled (catch-up) and is endless now, or the
           other way round; or its trigger asks for the batch clock now. Their places get other numbers in the
           checkpoint, and state stays (``sqlext.jobs.rearrangement``).

``READER``  Which reader reads a table: Spark's or ours. Its place is written as the other one's, and state stays, if
           operators of ours keep it (``sqlext.jobs.handover``).

``BUCKETS``  Into how many buckets the state of operators of ours is cut. It is divided anew when the query starts, in
           a new checkpoint (``sqlext.jobs.renewal``).

``PANES``  Numbers of an EMIT clause that no state knows: how often early panes come, a smaller lateness
           (``sqlext_udfs.windows.policy_state``).

``TRIGGER``  The trigger of an EMIT clause, its EARLY and LATE. State says under which it was written
           (``sqlext_udfs.windows.other_triggers``).

``LATENESS``  A larger lateness, and perhaps other such numbers. The run remembers which windows were closed by then,
           and that they stay so (``sqlext.jobs.runs``).

``ABOVE``  What is made of the rows of the topmost operator with state: what is selected and filtered above. Of groups
           that an operator of ours keeps also which aggregates, and HAVING. State knows aggregates by name. One that
           is new begins with the rows to come. Of groups that Spark keeps the aggregates must stay, in their order.

All other differences rule out going on from the state.

``STATE``  What has made the state, the rowtime's column for instance. Without its state the query could go on from the
           place that it had read up to.
``PLACE``  What that place is of: the sources and their order; their readers where state is not the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from sqlext.analysis.inserts.fingerprint import (
    ADDED_LATER,
    AGGREGATES,
    BUCKETS,
    CLOCK,
    GROUPED,
    HERE,
    KEPT,
    KEPT_BY_SPARK,
    READ,
    SUMMARIES,
    Fingerprint,
)
from sqlext.plan.grouping import ANY_TRIGGER, NO_NUMBERS, OPEN_WINDOWS
from sqlext.plan.normal_form import NOT_COMPARED
from sqlext_udfs.aggregates.names import loose_name, plain_name
from sqlext_udfs.windows.policy_state import PolicyNumbers

_OPTION = re.compile(r" option '(.+)'$")
_NUMBER = re.compile(r" \(\d+\)$")
_LATE_TABLE = "late table option "
_OF_ROWS = ("largest rowtime", "table of bad rows", "table of dead letters")
#: Parts above the rows that are grouped.
_ABOVE = ("SELECT", "HAVING", "WHERE", "steps", "sink columns", "inserted columns", AGGREGATES)
#: Of which one must be the same: then the parts above differ in what stands above the state alone.
_STATES = (KEPT, KEPT_BY_SPARK)
#: Parts that have columns as their places.
_OF_COLUMNS = ("source columns", "SELECT", "WHERE", "inserted columns", "watermark", "computed column ")
_END, _BEATS = "end of input", "heartbeats"
_EMIT = "EMIT"
#: A query that catches up and one that is endless read the same rows.
_SCHEDULES = {("catch-up", "none"), ("none", "catch-up")}
_READER = "reader of "
_OF_PLACE = ("source option ", _READER, "sources read twice", "replays into ", _BEATS, _END, HERE)
_MISSING = ("not there", "")
_SPARK = ("Spark", "")


class ChangeKind(Enum):
    """What a difference touches."""

    STATE = "state"
    PLACE = "place"
    TIME = "time"
    ROWS = "rows"
    OWN = "own sources"
    READER = "reader"
    BUCKETS = "buckets"
    PANES = "panes"
    LATENESS = "lateness"
    TRIGGER = "trigger"
    ABOVE = "above the state"


#: What rules out going on from the state.
_RULES_OUT = (ChangeKind.STATE, ChangeKind.PLACE)


@dataclass(frozen=True, slots=True)
class Change:
    """A part of a query that differs.

    Attributes:
        part: its name in the fingerprint.
        old: its text when the checkpoint was made.
        new: its text now.
        why: why the state cannot go on, where that is not plain to see.
    """

    part: str
    old: str
    new: str
    kind: ChangeKind
    why: str = ""

    def __str__(self) -> str:
        """Return ``<part> was <text>, is <text>``, and why that is too much."""
        return f"{self.part} was {self.old}, is {self.new}{f' ({self.why})' if self.why else ''}"


def changes(old: Fingerprint, new: Fingerprint) -> list[Change]:
    """Return what differs, in the order of the older one; what that one could not know yet is no difference."""
    found = []
    for part in (*old, *(k for k in new if k not in old)):
        missing = _SPARK if part == HERE else _MISSING
        a, b = old.get(part, missing), new.get(part, missing)
        if (
            not _is_same(part, a[1], b[1])
            and _is_compared(part)
            and not (part not in old and _base(part) in ADDED_LATER)
        ):
            found.append(Change(part, a[0], b[0], _kind(part, a[0], old)))
    if _are_same(READ, old, new):
        found = [c for c in found if not c.part.startswith(_OF_COLUMNS)]
    if _only_above(found, old, new):
        found = [replace(c, kind=ChangeKind.ABOVE) if _base(c.part) in _ABOVE else c for c in found]
    found = [_of_emit(c, old, new) if _base(c.part) == _EMIT else c for c in found]
    scheduled = any(c.part == _END and (c.old, c.new) in _SCHEDULES for c in found)
    found = [replace(c, kind=ChangeKind.OWN) if scheduled and c.part in (_END, _BEATS) else c for c in found]
    handed = _keep_state(old, new) and all(_is_reader(c) or c.kind not in _RULES_OUT for c in found)
    return [_of_reader(c) if handed and _is_reader(c) else c for c in found]


def _is_reader(change: Change) -> bool:
    return change.part.startswith(_READER)


def _of_reader(change: Change) -> Change:
    """Return a change of a reader that a checkpoint bears. Where Spark reads there is no part."""
    old, new = ("Spark" if text == _MISSING[0] else text for text in (change.old, change.new))
    return Change(change.part, old, new, ChangeKind.READER)


def _keep_state(old: Fingerprint, new: Fingerprint) -> bool:
    """Whether the same operators of ours keep state, or none does: Spark's state is another one's for each reader."""
    return old.get(BUCKETS) == new.get(BUCKETS)


def _only_above(found: Sequence[Change], old: Fingerprint, new: Fingerprint) -> bool:
    """Return whether the state is the same, or the same rows are grouped in the same way.

    Then aggregates are found in the state by their names.
    """
    if any(_are_same(part, old, new) for part in _STATES):
        return True
    same = _are_same(GROUPED, old, new)
    parts = {_base(c.part) for c in found} & set(_ABOVE)
    # Names that differ while the query is the same are another version's: its state is not known by them.
    known = AGGREGATES in old and AGGREGATES in new and parts != {AGGREGATES}
    return same and known and not _are_rewritten(old[AGGREGATES][0], new[AGGREGATES][0])


def lengthened(old: Fingerprint, new: Fingerprint) -> int | None:
    """Return the lateness (ms) of the older query, where open windows go on under a longer one; else None."""
    numbers = _numbers(_EMIT, old, new)
    return numbers.before.lateness if numbers is not None and numbers.lengthen else None


def _of_emit(change: Change, old: Fingerprint, new: Fingerprint) -> Change:
    """Return a change of an EMIT clause with its kind: open windows may go on under the new one."""
    numbers = _numbers(change.part, old, new)
    if numbers is None:
        return replace(change, why=_why_not(change.part, old, new))
    if not numbers.lengthen:
        return replace(change, kind=ChangeKind.PANES if numbers.same_trigger else ChangeKind.TRIGGER)
    # A run remembers one time up to which windows are closed: that of its only operator with windows.
    if all(sum(_base(part) == _EMIT for part in prints) == 1 for prints in (old, new)):
        return replace(change, kind=ChangeKind.LATENESS)
    return replace(change, why="several of its operators would remember which windows are closed")


def _why_not(part: str, old: Fingerprint, new: Fingerprint) -> str:
    """Say why open windows cannot go on under another EMIT clause."""
    if part not in old or part not in new:
        return "Spark keeps the windows of one of the two, and an operator of sqlext those of the other"
    trigger = part.replace(_EMIT, ANY_TRIGGER)
    if trigger not in old or trigger not in new:
        return "an older version began it, whose state does not say its trigger"
    if NO_NUMBERS in (old[trigger][0], new[trigger][0]):
        return "windows that give one pane, FILL, ONCE and USING have a state of their own"
    return "state depends on what panes hold: the mode, KEEP, and what triggers look at"


class _Numbers(NamedTuple):
    """The numbers of an EMIT clause under whose new form open windows can go on.

    Attributes:
        same_trigger: whether the trigger is the same but for numbers.
    """

    before: PolicyNumbers
    now: PolicyNumbers
    same_trigger: bool

    @property
    def lengthen(self) -> bool:
        """Whether the lateness becomes longer."""
        return self.before.lateness < self.now.lateness


def _numbers(part: str, old: Fingerprint, new: Fingerprint) -> _Numbers | None:
    """Return the numbers of an EMIT clause before and now; None where open windows cannot go on."""
    for name in (OPEN_WINDOWS, ANY_TRIGGER):
        windows = part.replace(_EMIT, name)
        if not _are_same(windows, old, new):
            continue
        try:
            before, now = (PolicyNumbers(n, tuple(c)) for n, c in (json.loads(p[windows][0]) for p in (old, new)))
        except ValueError:  # a text that was too long for a fingerprint
            continue
        if name == ANY_TRIGGER or before.may_become(now):
            return _Numbers(before, now, name == OPEN_WINDOWS)
    return None


def _are_same(part: str, old: Fingerprint, new: Fingerprint) -> bool:
    """Whether both have a part, and it is the same."""
    return part in old and part in new and old[part][1] == new[part][1]


def _is_same(part: str, old: str, new: str) -> bool:
    """Whether two texts of a part are the same; aggregates are however they were written."""
    return old == new or (part == AGGREGATES and plain_name(old) == plain_name(new))


def _are_rewritten(old: str, new: str) -> bool:
    """Whether an aggregate has another name only by the case or the quotes of identifiers.

    Nobody knows whether it is the same. In state it would be a new one, which has lost its rows.
    """
    before, now = ({plain_name(name) for name in names.split("; ")} for names in (old, new))
    gone, come = ({loose_name(name) for name in names} for names in (before - now, now - before))
    return bool(gone & come)


def _is_compared(part: str) -> bool:
    if _base(part) in SUMMARIES:  # some of what they sum up a checkpoint bears
        return False
    option = _OPTION.search(_base(part))
    return option is None or option[1] not in NOT_COMPARED


def _kind(part: str, was: str, old: Fingerprint) -> ChangeKind:
    base = _base(part)
    if base == "watermark":  # with another rowtime that is a change too; older versions did not say which it was
        return ChangeKind.TIME if part in old and "rowtime" in old else ChangeKind.STATE
    if base == "pace of the watermark":
        return ChangeKind.TIME
    if base == BUCKETS:
        return ChangeKind.BUCKETS
    if base == CLOCK:  # what asks for it is another part
        return ChangeKind.OWN
    if base == "rowtime NULL handling":  # who failed at such a row has given none of its micro-batch to a sink
        return ChangeKind.TIME if was == "fail" else ChangeKind.ROWS
    if base in _OF_ROWS or base.startswith(_LATE_TABLE):
        return ChangeKind.ROWS
    return ChangeKind.PLACE if base.startswith(_OF_PLACE) else ChangeKind.STATE


def _base(part: str) -> str:
    """Return a part's name without the number of its table."""
    return _NUMBER.sub("", part)
