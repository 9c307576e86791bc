"""Say what EMIT of a SELECT means to the as-of joins of its FROM."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sqlext.analysis.grouping.group_by import is_grouped
from sqlext.dialect.ast.queries import Join, ParenRelation, Relation, Select
from sqlext.dialect.emit import nodes as e
from sqlext.dialect.emit.printing import emit_text
from sqlext.errors import SqlExtError

_HINT = "EMIT CHANGES [ALLOW LATENESS d], or EMIT AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS d"
_KNOWN = frozenset({"output", "mode", "lateness"})


class NearestEmit(NamedTuple):
    """When rows of an as-of join come out.

    Attributes:
        early: whether a left row comes out when it comes.
        lateness: how many ms behind the watermark a row is taken all the same.
        text: the clause, in the spelling of EMIT.md.
    """

    early: bool
    lateness: int
    text: str


def without_nearest_emit(select: Select, mode: str) -> Select:
    """Return a SELECT without the EMIT that its as-of joins take; the same one where a GROUP BY takes it."""
    taken = select.emit is not None and _has_as_of(select.from_) and not is_grouped(select, mode)
    return replace(select, emit=None) if taken else select


def nearest_emit(select: Select | None, mode: str) -> NearestEmit | None:
    """Return what the EMIT of a SELECT says to its as-of joins; None where it says nothing.

    Raises:
        SqlExtError: EMIT-123 for triggers and options that a join has no panes for.
    """
    if select is None or select.emit is None or is_grouped(select, mode):
        return None
    clause = select.emit
    other = next((name for name, _ in clause.places if name not in _KNOWN), None)
    if other is not None or clause.once or clause.mode == "DISCARDING":
        field = other or ("mode" if clause.mode == "DISCARDING" else "once")
        raise _refused("this option of EMIT is of groups; an as-of join has none", clause, field)
    lateness = clause.lateness or 0
    early = _early(clause)
    return NearestEmit(early, lateness, emit_text(clause)) if early or lateness else None


def _early(clause: e.EmitClause) -> bool:
    """Return whether rows come out before the watermark makes them sure."""
    trigger = clause.trigger
    if isinstance(trigger, e.EveryRow):
        return True
    if isinstance(trigger, e.DefaultTrigger):
        return False
    if (
        isinstance(trigger, e.AfterWatermark)
        and (trigger.delay, trigger.timeout) == (None, None)
        and all(t is None or isinstance(t, e.EveryRow) for t in (trigger.early, trigger.late))
    ):
        return trigger.early is not None
    raise _refused("an as-of join gives rows when they come, or when the watermark makes them sure", clause, "trigger")


def _refused(message: str, clause: e.EmitClause, field: str) -> SqlExtError:
    span = clause.trigger.span if field == "trigger" else clause.place(field)
    return SqlExtError("EMIT-123", message, span=span, hint=_HINT)


def _has_as_of(relation: Relation | None) -> bool:
    if isinstance(relation, ParenRelation):
        return _has_as_of(relation.relation)
    return isinstance(relation, Join) and (
        relation.as_of is not None or _has_as_of(relation.left) or _has_as_of(relation.right)
    )
