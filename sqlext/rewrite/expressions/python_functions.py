"""Name the users' Python functions in Spark SQL.

Each has two forms there. One fails where the function raises. The other gives a struct of its value and of what it
raised, one of them NULL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlext.dialect.ast.expressions import PythonFunction

#: Fields of what the second form gives.
VALUE, RAISED = "value", "raised"
_PLAIN, _TRIED = "sqlext_python_", "sqlext_tried_"
_CALLED = re.compile(rf"\b(?:{_PLAIN}|{_TRIED})(\w+)\(")


def plain(function: PythonFunction, args: Sequence[str]) -> str:
    """Return a call that fails where the function raises."""
    return f"{plain_name(function.name)}({', '.join(args)})"


def tried(function: PythonFunction, args: Sequence[str]) -> str:
    """Return a call that gives a struct of ``VALUE`` and ``RAISED``."""
    return f"{tried_name(function.name)}({', '.join(args)})"


def plain_name(name: str) -> str:
    """Return what Spark knows a function by."""
    return f"{_PLAIN}{name.lower()}"


def tried_name(name: str) -> str:
    """Return what Spark knows the form of a function by that does not fail."""
    return f"{_TRIED}{name.lower()}"


def called(sql: str) -> tuple[str, ...]:
    """Return the names of the functions that a text calls, in lower case, sorted."""
    return tuple(sorted(set(_CALLED.findall(sql))))
