"""Run CREATE FUNCTION and DROP FUNCTION: a script's classes and functions are registered as a user's are."""

from __future__ import annotations

from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.session.state import SessionState
from sqlext.user_functions import imported, kind_of


def create_function(statement: ast.CreateFunction, state: SessionState) -> None:
    """Register the class of an import path as what its hooks make it, a function as one of values.

    Raises:
        SqlExtError: FUNC-035 if scripts may not import code, FUNC-031 for a name of several parts, FUNC-034 for a path
            that leads to neither, FUNC-037 for a name that another class has; as ``UserFunctions.register``.
    """
    if not state.python_allowed:
        raise SqlExtError(
            "FUNC-035",
            "CREATE FUNCTION ... LANGUAGE PYTHON imports code, which scripts may not do here",
            span=statement.span,
            hint="sqlext.connect(..., allow_python_functions=True) allows it",
        )
    if len(statement.name) > 1:
        message = f"`{'.'.join(statement.name)}`: a function of Python is the session's, and in no database"
        raise SqlExtError("FUNC-031", message, span=statement.name_span, hint=f"write {statement.name[-1]}")
    try:
        _register(statement, state)
    except SqlExtError as error:
        raise error.at(statement.path_span) from error.__cause__


def _register(statement: ast.CreateFunction, state: SessionState) -> None:
    (name,) = statement.name
    cls = imported(statement.path)
    kind = kind_of(cls)
    known = state.functions.find(kind, name)
    if known is not None and not statement.or_replace:
        # The same class again is no conflict: a script may be run twice.
        if statement.if_not_exists or known.cls is cls:
            return
        message = f"{kind} `{name}` is {known.implementation} already"
        raise SqlExtError("FUNC-037", message, span=statement.name_span, hint="CREATE OR REPLACE FUNCTION replaces it")
    state.functions.register(kind, name, cls)


def knows_function(statement: ast.CreateFunction, state: SessionState) -> bool:
    """Return whether there is the function that an ALTER FUNCTION changes.

    Raises:
        SqlExtError: FUNC-001 if there is none, without IF EXISTS.
    """
    name, known = statement.name[-1], state.functions.names()
    found = name.upper() in {n.upper() for n in known}
    if not found and not statement.if_exists:
        hint = did_you_mean(name, known) or "CREATE FUNCTION makes one"
        raise SqlExtError("FUNC-001", f"there is no function `{name}` to change", span=statement.name_span, hint=hint)
    return found


def java_class(statement: ast.CreateFunction) -> SqlExtError:
    """Return the refusal of a function whose code Python cannot import."""
    name = statement.name[-1]
    return SqlExtError(
        "FUNC-040",
        f"`{statement.path}` is a class of Java, and functions are classes of Python here",
        span=statement.path_span,
        hint=f"register one as `{name}` before (session.register_aggregate, ...): it stands for this one",
    )


def drop_function(statement: ast.Drop, state: SessionState) -> bool:
    """Forget a class; return whether there was one: else the function is Spark's."""
    return len(statement.name) == 1 and state.functions.remove(statement.name[0])


def require_function(statement: ast.Drop, state: SessionState) -> None:
    """Refuse to drop a function that nobody has made: Spark cannot be asked, or does not have it (FUNC-001).

    One of a catalog (``spark_catalog.default.f``) is Spark's.
    """
    name = statement.name[-1]
    if len(statement.name) > 1 or statement.if_exists or name.lower() in state.sparks:
        return
    hint = did_you_mean(name, state.functions.names()) or "DROP FUNCTION IF EXISTS passes over one that is not there"
    raise SqlExtError("FUNC-001", f"there is no function `{name}`", span=statement.name_span, hint=hint)
