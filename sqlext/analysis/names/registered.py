"""What users have registered, where SQL names it: aggregates in a SELECT, USING TRIGGER and EVICT USING in EMIT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlext.analysis.emit.policy import is_constant
from sqlext.analysis.names.substitution import substitute
from sqlext.dialect.ast.expressions import Call, Node, Registered
from sqlext.dialect.ast.queries import Select
from sqlext.dialect.emit import nodes as e
from sqlext.errors import SqlExtError
from sqlext.user_functions import UserFunction, UserFunctions
from sqlext_udfs.windows.policy import Cumulate, Hop, Session, WindowKind

#: Name and qualified class of what a clause uses.
Used = tuple[tuple[str, str], ...]


def with_registered(select: Select, functions: UserFunctions) -> Select:
    """Return a SELECT whose calls of registered aggregates know what they call.

    Raises:
        SqlExtError: FUNC-002 for a wrong number of arguments, FUNC-003 for DISTINCT of several.
    """
    if not functions.names("aggregate"):
        return select

    def known(node: Node) -> Node | None:
        found = functions.find("aggregate", node.name) if isinstance(node, Call) else None
        if found is None or not isinstance(node, Call) or node.registered is not None:
            return None
        _check_call(node, found)
        assert found.returns is not None
        made = Registered(found.name, found.implementation, found.returns, found.merges)
        return replace(node, args=tuple(substitute(a, known) for a in node.args), registered=made)

    return replace(
        select,
        items=tuple(substitute(i, known) for i in select.items),
        having=None if select.having is None else substitute(select.having, known),
        where=None if select.where is None else substitute(select.where, known),
        group_by=None if select.group_by is None else substitute(select.group_by, known),
    )


def _check_call(call: Call, found: UserFunction) -> None:
    wrong = found.check_count(len(call.args))
    if wrong is not None:
        raise SqlExtError("FUNC-002", wrong, span=call.span)
    if call.distinct and len(call.args) != 1:
        raise SqlExtError("FUNC-003", f"DISTINCT of `{found.name}` takes one argument", span=call.span)


def check_using(clause: e.EmitClause, window: WindowKind, functions: UserFunctions) -> Used:
    """Return the triggers and evictors that a clause uses.

    Raises:
        SqlExtError: EMIT-040 for an unknown one, EMIT-041 for a wrong number of arguments, EMIT-106 for a trigger
            that cannot merge over sessions.
    """
    used = []
    for trigger in (n for n in clause.trigger.walk() if isinstance(n, e.UsingTrigger)):
        constants = [a for a in trigger.arguments if is_constant(a)]
        found = _used("trigger", trigger, len(constants), functions)
        if isinstance(window, Session) and not found.merges:
            message = f"trigger `{found.name}` does not support merging and cannot be used with SESSION windows"
            raise SqlExtError("EMIT-106", message, span=trigger.span, hint="give its class on_merge(context, others)")
        used.append(found)
    if isinstance(clause.evictor, e.EvictUsing):
        used.append(_used("evictor", clause.evictor, len(clause.evictor.arguments), functions))
    return tuple(dict.fromkeys((f.name, f.implementation) for f in used))


def _used(kind: str, node: e.UsingTrigger | e.EvictUsing, count: int, functions: UserFunctions) -> UserFunction:
    try:
        found = functions.require("trigger" if kind == "trigger" else "evictor", node.name, "EMIT-040")
    except SqlExtError as error:
        raise error.at(node.span) from None
    wrong = found.check_count(count)
    if wrong is not None:
        hint = "columns and other expressions of a row go to on_row, not to the class" if kind == "trigger" else None
        raise SqlExtError("EMIT-041", wrong, span=node.span, hint=hint)
    return found


def check_mergeable(calls: Iterable[Call], window: WindowKind) -> None:
    """Refuse aggregates that do not merge where several windows are made of the same partial results (EMIT-116)."""
    for call in calls:
        if call.registered is None or call.registered.merges or not shares_partials(window):
            continue
        sessions = isinstance(window, Session)
        what = "cannot merge sessions" if sessions else "cannot be shared by overlapping windows"
        message = f"{call.registered.name} {what}: its class has no merge"
        raise SqlExtError("EMIT-116", message, span=call.span, hint="give it merge(one, other)")


def shares_partials(window: WindowKind) -> bool:
    """Whether a window's contents may be put together of those of others."""
    return isinstance(window, (Session, Cumulate)) or (isinstance(window, Hop) and window.slide < window.size)


def refuse_static(calls: Sequence[Call]) -> None:
    """Refuse registered aggregates of rows that are no stream: Spark runs these, and does not know them."""
    for call in calls:
        if call.registered is not None:
            message = f"{call.registered.name} is registered for streams; this is a query of what is there"
            hint = "SET 'execution.runtime-mode' = 'streaming'"
            raise SqlExtError("FUNC-033", message, span=call.span, hint=hint)
