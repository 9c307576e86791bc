"""Keep the triggers, evictors, aggregates, table and scalar functions that users have registered by name.

Which hooks those are: ``sqlext_udfs.windows.triggers.hooks``, ``windows.evictors`` and ``aggregates.hooks``; a table
function has ``eval(*arguments)``, which yields rows, as a Python UDTF of Spark has. A scalar function is a Python
function. Here is what analysis must know of them. A plan has their names alone; classes and functions travel to the
workers when it is opened.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from sqlext.dialect.expressions.types import parse_type_text
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.types import LogicalType

Kind = Literal["trigger", "evictor", "aggregate", "table", "scalar"]
KINDS: tuple[Kind, ...] = ("trigger", "evictor", "aggregate", "table")
#: The hooks that a class must have. Others are asked for where they are needed: on_merge of a trigger, merge of an
#: aggregate.
HOOKS: Mapping[Kind, tuple[str, ...]] = {
    "trigger": ("on_row", "on_event_time", "on_processing_time", "clear"),
    "evictor": ("keep",),
    "aggregate": ("zero", "add", "finish"),
    "table": ("eval",),
}
#: Hooks of Spark's UDTFs that a table function must not have: rows that belong to no row, columns that are not known.
_REFUSED = ("terminate", "analyze")
_SHOWN: Mapping[Kind, str] = {"table": "table function", "scalar": "function"}
#: Kinds whose calls look alike: a name means one of them.
_CALLED: tuple[Kind, ...] = ("aggregate", "scalar")


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A registered class, or function.

    Attributes:
        returns: the type of the results of an aggregate or a function, the ROW of a table function's, None of the
            others.
    """

    kind: Kind
    name: str
    cls: Any
    returns: LogicalType | None = None

    @property
    def implementation(self) -> str:
        """The qualified name of its class or function: what a query's fingerprint knows of it."""
        named = self.cls if hasattr(self.cls, "__qualname__") else type(self.cls)
        return f"{named.__module__}.{named.__qualname__}"

    @property
    def merges(self) -> bool:
        """Whether it can make one state of those of several windows."""
        return hasattr(self.cls, "on_merge" if self.kind == "trigger" else "merge")

    def check_count(self, count: int) -> str | None:
        """Return what is wrong with so many arguments, None if nothing is."""
        least, most = self._counts()
        if least <= count and (most is None or count <= most):
            return None
        wanted = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        return f"`{self.name}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}"

    def _counts(self) -> tuple[int, int | None]:
        if self.kind == "table":
            # `self`, and the accumulator of `add`, are no arguments of the call in SQL.
            return _counts(self.cls.eval, 1)
        return _counts(self.cls.add, 2) if self.kind == "aggregate" else _counts(self.cls, 0)


def _none_is_built_in(_name: str) -> bool:
    return False


@dataclass
class UserFunctions:
    """The registered classes of a session, by kind and name; names are compared as SQL compares those of functions."""

    #: Whether a name is that of a built-in function, which none of these may have.
    built_in: Callable[[str], bool] = _none_is_built_in
    _known: dict[tuple[Kind, str], UserFunction] = field(default_factory=dict)

    def register(self, kind: Kind, name: str, cls: Any, returns: Any = None) -> None:
        """Register a class, or a function, under a name; a second registration replaces the first.

        Args:
            cls: a Python function if the kind is ``scalar``, else a class.
            returns: the type of the results of an aggregate or a function, the columns of a table function's rows; by
                default what ``cls`` has as ``returns``.

        Raises:
            SqlExtError: FUNC-030 for a class without the hooks or what is no plain function, FUNC-031 for a name that
                cannot be one, FUNC-032 for what does not say its types.
        """
        if not name.isidentifier():
            raise SqlExtError("FUNC-031", f"'{name}' cannot be the name of a function", hint="letters, digits and _")
        if kind == "scalar":
            self._known[kind, name.upper()] = UserFunction(kind, name, cls, self._scalar(name, cls, returns))
            return
        if not isinstance(cls, type):
            raise SqlExtError("FUNC-030", f"{kind} `{name}` must be a class, this is {cls!r}")
        # By the methods: a class need not have our protocol as its base (see `hooks`).
        missing = [hook for hook in HOOKS[kind] if not callable(getattr(cls, hook, None))]
        if missing:
            what = f"{cls.__qualname__} is no {kind}: it has no {', '.join(missing)}"
            raise SqlExtError("FUNC-030", what, hint=f"a class with {', '.join(HOOKS[kind])}")
        refused = [hook for hook in _REFUSED if kind == "table" and hasattr(cls, hook)]
        if refused:
            hint = "its rows are those that eval yields; register_table_function(name, class, returns) says their types"
            raise SqlExtError("FUNC-030", f"{cls.__qualname__} has {refused[0]}, which is not supported", hint=hint)
        type_ = None
        if kind in ("aggregate", "table"):
            self._require_free(kind, name)
            type_ = _returned(kind, name, returns if returns is not None else getattr(cls, "returns", None))
        self._known[kind, name.upper()] = UserFunction(kind, name, cls, type_)

    def _scalar(self, name: str, function: Any, returns: Any) -> LogicalType:
        wrong = _no_function(function)
        if wrong is not None:
            hint = "a Python function that takes the values of a row and returns one"
            raise SqlExtError("FUNC-030", f"`{name}` is {wrong}", hint=hint)
        self._require_free("scalar", name)
        return _returned("scalar", name, returns if returns is not None else getattr(function, "returns", None))

    def _require_free(self, kind: Kind, name: str) -> None:
        """Refuse a name under which calls mean something else already."""
        other = next((k for k in _CALLED if kind in _CALLED and k != kind and self.find(k, name) is not None), None)
        if self.built_in(name) or other is not None:
            what = "a built-in function" if other is None else "an aggregate" if other == "aggregate" else "a function"
            message = f"there is {what} `{name.upper()}`"
            raise SqlExtError("FUNC-031", message, hint="take another name")

    def find(self, kind: Kind, name: str) -> UserFunction | None:
        """Return what is registered under a name, or None."""
        return self._known.get((kind, name.upper()))

    def require(self, kind: Kind, name: str, code: str) -> UserFunction:
        """Return what is registered under a name.

        Raises:
            SqlExtError: under that code, with close matches, if nothing is.
        """
        found = self.find(kind, name)
        if found is None:
            shown = _SHOWN.get(kind, kind)
            hint = (
                did_you_mean(name, self.names(kind)) or f"session.register_{shown.replace(' ', '_')}('{name}', a class)"
            )
            raise SqlExtError(code, f"there is no {shown} `{name}`", hint=hint)
        return found

    def names(self, *kinds: Kind) -> list[str]:
        """Return the names of some kinds, of all without any."""
        return sorted(f.name for (kind, _), f in self._known.items() if not kinds or kind in kinds)

    def remove(self, name: str) -> bool:
        """Forget all that is registered under a name; return whether anything was."""
        keys = [key for key in self._known if key[1] == name.upper()]
        for key in keys:
            del self._known[key]
        return bool(keys)

    def copy(self) -> UserFunctions:
        """Return a copy: what is registered there is not known here."""
        return UserFunctions(self.built_in, dict(self._known))


def imported(path: str) -> Any:
    """Return the class, or the function, of an import path.

    Raises:
        SqlExtError: FUNC-034 if there is none.
    """
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # whatever the module raises
        raise SqlExtError("FUNC-034", f"cannot import `{path}`: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise SqlExtError("FUNC-034", f"`{path}` is no class and no function")
    return found


def kind_of(cls: Any) -> Kind:
    """Return what a class is, by its hooks; what is no class is a function.

    Raises:
        SqlExtError: FUNC-030 if it is nothing, or several things.
    """
    if not isinstance(cls, type):
        return "scalar"
    found = [kind for kind in KINDS if all(callable(getattr(cls, hook, None)) for hook in HOOKS[kind])]
    if len(found) == 1:
        return found[0]
    listed = "; ".join(f"{kind}: {', '.join(HOOKS[kind])}" for kind in KINDS)
    what = f"both {' and '.join(found)}" if found else "no trigger, evictor, aggregate or table function"
    raise SqlExtError("FUNC-030", f"{cls.__qualname__} is {what}", hint=f"the hooks are {listed}")


def _returned(kind: Kind, name: str, said: Any) -> LogicalType:
    """Return the type of an aggregate, or the ROW of a table function: ``word STRING, length INT``."""
    text = said.simpleString() if said is not None and hasattr(said, "simpleString") else said  # a type of PySpark
    shown = _SHOWN.get(kind, kind)
    if not isinstance(text, str):
        example = "'word STRING, length INT'" if kind == "table" else "'DOUBLE'"
        message = f"{shown} `{name}` does not say what it returns"
        given = f"{name}.returns = {example}" if kind == "scalar" else f"give its class: returns = {example}"
        raise SqlExtError("FUNC-032", message, hint=given)
    if kind == "table" and not text.upper().startswith(("STRUCT<", "ROW<")):
        text = f"ROW<{text}>"
    try:
        return parse_type_text(text, "spark")
    except SqlExtError as error:
        message = f"{shown} `{name}` returns '{text}', which is no type"
        raise SqlExtError("FUNC-032", message, hint=error.hint) from error


def _no_function(function: Any) -> str | None:
    """Return what an object is that is no function of values, None for one."""
    if isinstance(function, type) or not callable(function):
        return "a class" if isinstance(function, type) else f"no function but {function!r}"
    if hasattr(function, "evalType"):
        return "a function of Spark's: of pandas, Arrow or rows"
    if inspect.iscoroutinefunction(function):
        return "a coroutine"
    return "a generator" if inspect.isgeneratorfunction(function) else None


def _counts(made: Callable[..., Any], skipped: int) -> tuple[int, int | None]:
    """Return how many positional arguments a callable takes, least and most, behind the first ones."""
    try:
        parameters = list(inspect.signature(made).parameters.values())[skipped:]
    except ValueError:  # a class of C
        return 0, None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    endless = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return sum(p.default is p.empty for p in positional), None if endless else len(positional)
