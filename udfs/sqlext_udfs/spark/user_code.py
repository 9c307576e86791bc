"""Send registered classes to the Python workers: with the operator that uses them, by cloudpickle.

Cloudpickle sends the code of what lies in ``__main__``, but only the name of what lies in a module. A worker may not
find the user's modules, so their code is sent too. Installed modules are found everywhere.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError
from sqlext.user_functions import UserFunction, UserFunctions
from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.python import CLASS, NAME, PYTHON, RETURNS
from sqlext_udfs.kernel.arrow_types import plain_schema
from sqlext_udfs.spark.arrow_schemas import arrow_schema
from sqlext_udfs.windows.policy import KeepUsing, Policy
from sqlext_udfs.windows.triggers.tree import Using, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def send_code_of(classes: Iterable[Any]) -> None:
    """Let cloudpickle send the code of functions and classes, and of those that they inherit from."""
    from pyspark import cloudpickle

    send: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    for cls in classes:
        # A base class may lie in another module of the user's.
        for each in cls.__mro__ if isinstance(cls, type) else (cls if hasattr(cls, "__module__") else type(cls),):
            module = sys.modules.get(each.__module__)
            if module is not None and not _is_found_everywhere(module):
                send(module)


def _is_found_everywhere(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if module.__name__ == "__main__" or file is None or module.__name__.partition(".")[0] == "sqlext":
        # What lies in ``__main__`` cloudpickle sends anyway; our own package is installed on workers.
        return True
    place = Path(file).resolve()
    return any(place.is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in names})


def classes_of(policy: Policy, registered: UserFunctions) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the triggers and the evictors that a policy uses, by the names that it has for them.

    Raises:
        SqlExtError: EMIT-040 for one that is not registered; from the factories, EMIT-042 for what its class raises.
    """
    triggers = [t.name for t in tree(policy.trigger) if isinstance(t, Using)]
    evictors = [policy.evictor.name] if isinstance(policy.evictor, KeepUsing) else []
    used = [registered.require("trigger", n, "EMIT-040") for n in triggers]
    used += [registered.require("evictor", n, "EMIT-040") for n in evictors]
    send_code_of(f.cls for f in used)
    made = [_factory(f) for f in used]
    return dict(zip(triggers, made, strict=False)), dict(zip(evictors, made[len(triggers) :], strict=True))


def _factory(found: UserFunction) -> Callable[..., Any]:
    """Return a function that makes an object of the class; it runs on the driver, and the object travels."""

    def make(*arguments: Any) -> Any:
        try:
            return found.cls(*arguments)
        except Exception as error:
            message = f"{found.kind} `{found.name}` cannot be made: {type(error).__name__}: {error}"
            raise SqlExtError("EMIT-042", message) from error

    return make


def aggregates_of(
    wanted: Sequence[AggregateCall], registered: UserFunctions, spark: SparkSession
) -> tuple[AggregateCall, ...]:
    """Return aggregates, those of users with their class and the Arrow type that it returns.

    Raises:
        SqlExtError: FUNC-023 for one that is not registered.
    """
    return tuple(_with_class(a, registered, spark) if a.function == PYTHON else a for a in wanted)


def _with_class(aggregate: AggregateCall, registered: UserFunctions, spark: SparkSession) -> AggregateCall:
    found = registered.require("aggregate", aggregate.parameter(NAME), "FUNC-023")
    send_code_of([found.cls])
    # Spark parses the type as the user wrote it.
    schema = spark.sql(f"SELECT CAST(NULL AS {aggregate.parameter('returns')})").schema
    (returns,) = plain_schema(arrow_schema(schema)).types
    return replace(aggregate, parameters=(*aggregate.parameters, (CLASS, found.cls), (RETURNS, returns)))
