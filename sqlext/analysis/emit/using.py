"""Look up the registered classes that USING TRIGGER and EVICT USING name."""

from __future__ import annotations

from sqlext.analysis.emit.policy import is_constant
from sqlext.dialect.emit import nodes as e
from sqlext.errors import SqlExtError
from sqlext.user_functions import UserFunction, UserFunctions
from sqlext_udfs.windows.policy import Session, WindowKind

#: Name and qualified class of what a clause uses.
Used = tuple[tuple[str, str], ...]


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
