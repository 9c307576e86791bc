"""Resolve calls of registered aggregates and functions, and refuse them where they cannot be called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlext.analysis.names.substitution import substitute
from sqlext.dialect.ast.expressions import Call, NamedArgument, Node, PythonFunction, Registered, Star
from sqlext.dialect.ast.queries import Select
from sqlext.errors import SqlExtError
from sqlext.user_functions import UserFunction, UserFunctions
from sqlext_udfs.windows.policy import Cumulate, Hop, Session, WindowKind


def with_registered(select: Select, functions: UserFunctions) -> Select:
    """Return a SELECT whose calls of registered aggregates and functions know what they call.

    Raises:
        SqlExtError: FUNC-002 for a wrong number of arguments, FUNC-003 for DISTINCT of several, or for a clause that
            belongs to aggregates.
    """

    def scalar(node: Node) -> Node | None:
        found = functions.find("scalar", node.name) if isinstance(node, Call) else None
        if found is None or not isinstance(node, Call) or node.python is not None:
            return None
        _check_function(node, found)
        assert found.returns is not None
        made = PythonFunction(found.name, found.implementation, found.returns)
        return replace(node, args=tuple(substitute(a, known) for a in node.args), python=made)

    def known(node: Node) -> Node | None:
        function = scalar(node)
        if function is not None:
            return function
        found = functions.find("aggregate", node.name) if isinstance(node, Call) else None
        if found is None or not isinstance(node, Call) or node.registered is not None:
            return None
        _check_call(node, found)
        assert found.returns is not None
        made = Registered(found.name, found.implementation, found.returns, found.merges)
        return replace(node, args=tuple(substitute(a, known) for a in node.args), registered=made)

    return replace(
        select,
        # Sub-queries there, and their ON, are bound by themselves; an aggregate is refused there as unknown.
        from_=None if select.from_ is None else substitute(select.from_, scalar),
        qualify=None if select.qualify is None else substitute(select.qualify, scalar),
        items=tuple(substitute(i, known) for i in select.items),
        having=None if select.having is None else substitute(select.having, known),
        # WHERE too, so that an aggregate there is refused as one (WINDOW-009).
        where=None if select.where is None else substitute(select.where, known),
        group_by=None if select.group_by is None else substitute(select.group_by, known),
    )


def _check_call(call: Call, found: UserFunction) -> None:
    wrong = found.check_count(len(call.args))
    if wrong is not None:
        raise SqlExtError("FUNC-002", wrong, span=call.span)
    if call.distinct and len(call.args) != 1:
        raise SqlExtError("FUNC-003", f"DISTINCT of `{found.name}` takes one argument", span=call.span)


def _check_function(call: Call, found: UserFunction) -> None:
    wrong = found.check_count(len(call.args))
    if wrong is not None:
        raise SqlExtError("FUNC-002", wrong, span=call.span)
    if call.distinct or call.filter is not None or call.over is not None or call.order_by or call.clauses:
        message = f"`{found.name}` is a function of the values of a row: DISTINCT, FILTER and OVER are for aggregates"
        raise SqlExtError("FUNC-003", message, span=call.span)
    named = next((a for a in call.args if isinstance(a, (NamedArgument, Star))), None)
    if named is not None:
        message = f"`{found.name}` takes values by their places"
        raise SqlExtError("FUNC-003", message, span=named.span, hint="name the columns one by one")


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
