"""Exchange a text of a function of a module that is loaded."""

from __future__ import annotations
import __future__ as future

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType


def function(of: str) -> FunctionType:
    """Return the function ``module:name``, without what decorates it."""
    module, _, path = of.partition(":")
    found: object = importlib.import_module(module)
    for name in path.split("."):
        found = inspect.getattr_static(found, name)
    inner = inspect.unwrap(getattr(found, "__func__", found))  # type: ignore[arg-type]
    assert isinstance(inner, FunctionType), of
    return inner


def exchange(of: str, old: str, new: str) -> None:
    """Let the function do what its text with the new part says; whoever holds it has the new one."""
    target = function(of)
    text = textwrap.dedent(inspect.getsource(target))
    assert old in text, f"{of} has no {old!r}"
    code = compile(text.replace(old, new), target.__code__.co_filename, "exec", future.annotations.compiler_flag)
    made: dict[str, object] = {}
    exec(code, target.__globals__, made)
    changed = inspect.unwrap(made[target.__name__])  # type: ignore[arg-type]
    assert isinstance(changed, FunctionType)
    target.__code__ = changed.__code__


@contextmanager
def exchanged(of: str, old: str, new: str) -> Iterator[None]:
    """Exchange it for the block."""
    target = function(of)
    before = target.__code__
    exchange(of, old, new)
    try:
        yield
    finally:
        target.__code__ = before
