"""Import packages of optional extras, and name the extra where one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sqlext.errors import SqlExtError

#: What needs PySpark, as the message begins. Platforms bring it; elsewhere it is an extra.
RUNS = "running a statement"


def package(name: str, extra: str, what: str) -> Any:
    """Return a package of an extra, by the name under which it is imported.

    Args:
        what: what needs it, as the message begins.

    Raises:
        SqlExtError: ENV-011 if it is missing.
    """
    try:
        return import_module(name)
    except ImportError as error:
        message = f"{what} needs the package {name.replace('_', '-')}"
        raise SqlExtError("ENV-011", message, hint=f"pip install 'sqlext-spark[{extra}]'") from error
