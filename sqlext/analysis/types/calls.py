"""Look up called functions, check their arguments and infer their result types."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from sqlext.analysis import functions
from sqlext.analysis.functions.lambdas import result_type
from sqlext.analysis.functions.model import CallTypes, Function
from sqlext.analysis.types.coercion import least_restrictive
from sqlext.analysis.types.json_keys import check_keys
from sqlext.analysis.types.lambdas import LambdaTypes, body_type
from sqlext.analysis.types.operands import need_condition
from sqlext.dialect.ast import expressions as e
from sqlext.dialect.ast.queries import Query
from sqlext.errors import SqlExtError, counted, did_you_mean
from sqlext.types import LogicalType, array

#: What the names of Spark's functions begin with, where they are in a catalog.
_SPARKS_CATALOGS = ("spark_catalog", "system")
#: Functions that the user has made in Spark, in lower case: they go before Spark's own.
_OWN: ContextVar[Set[str]] = ContextVar("own functions", default=frozenset())


@contextmanager
def own_functions(names: Set[str]) -> Iterator[None]:
    """Let statements use functions that the user has made in Spark, also under a name of Spark's own."""
    before = _OWN.set(names)
    try:
        yield
    finally:
        _OWN.reset(before)


class ArgumentTypes(LambdaTypes, Protocol):
    """Gives the types of the arguments."""

    mode: str

    @property
    def env(self) -> object:
        """The environment of the expression."""


def call_type(call: e.Call, types: ArgumentTypes) -> LogicalType | None:
    """Return the type of a call.

    Raises:
        SqlExtError: FUNC-001 unknown function, FUNC-002 wrong number of arguments, FUNC-003 a use that
            Flink has not, TYPE-004 arguments of a wrong type (flink mode only).
    """
    arguments = _argument_types(call, types)
    _check_filter(call, types)
    _check_clause(call, types.mode)
    _check_order(call, arguments)
    if call.registered is not None:
        return call.registered.returns
    if call.python is not None:
        return call.python.returns
    function = functions.find(call.function)
    _check_scalar(call, function)
    if function is None:
        _check_known(call, types)
        _check_sparks_arguments(call, types)
        return result_type(call.function, arguments) or _array_of(call.function, arguments)
    seen = CallTypes(call, arguments, types.mode)
    if types.mode == "spark" and functions.is_spark_call(function, call):
        if not any(s.takes_count(len(arguments)) for s in function.signatures):
            _check_sparks_arguments(call, types)
        return (function.spark_result or function.result)(seen)
    _check_arguments(function, seen)
    check_keys(call, arguments, types.mode)
    return function.result(seen)


def _argument_types(call: e.Call, types: ArgumentTypes) -> tuple[LogicalType | None, ...]:
    """Return the types of the arguments; a lambda has that of its body."""
    found: list[LogicalType | None] = []
    for place, node in enumerate(call.args):
        if isinstance(node, e.Lambda):
            found.append(body_type(call, place, node, found, types))
        else:
            found.append(None if isinstance(node, (e.Keyword, e.Star)) else types.type_of(node))
    return tuple(found)


def _array_of(function: str, items: tuple[LogicalType | None, ...]) -> LogicalType | None:
    """Return the type of Spark's ``array(a, b)``, None where its items have no common type here."""
    element = least_restrictive(items, "spark") if function == "ARRAY" and items else None
    return None if element is None else array(element).not_null()


def _check_order(call: e.Call, arguments: tuple[LogicalType | None, ...]) -> None:
    """Refuse the least or the greatest of values without an order: neither Flink nor Spark has one of maps."""
    for found in arguments[:1] if call.function in ("MIN", "MAX") and call.registered is None else ():
        if found is not None and found.root in ("MAP", "MULTISET"):
            message = f"{call.function} cannot be applied to ({found.flink()})"
            raise SqlExtError("TYPE-004", message, span=call.span, hint="values of this type have no order")


def _check_known(call: e.Call, types: ArgumentTypes) -> None:
    name = call.name
    # A qualified name is a function of a Spark catalog, which Spark alone can look up.
    catalog, _, last = name.lower().partition(".")
    if last and types.mode == "flink" and catalog not in _SPARKS_CATALOGS and last.rpartition(".")[2] not in _OWN.get():
        hint = "functions have one name here; that of one of Spark's catalog begins with spark_catalog"
        raise SqlExtError("FUNC-001", f"there is no function `{name}`", span=call.span, hint=hint)
    if last or functions.is_spark_function(name):
        return
    raise SqlExtError(
        "FUNC-001",
        f"there is no function `{name}`",
        span=call.span,
        hint=did_you_mean(name, functions.all_names()),
    )


def _check_sparks_arguments(call: e.Call, types: ArgumentTypes) -> None:
    """Refuse a number of arguments that Spark's function does not take; a function of the user may have its name."""
    count = functions.spark_count(call.name)
    if count is None or call.bare or any(isinstance(a, (e.NamedArgument, e.Star, e.Keyword)) for a in call.args):
        return
    if call.name.lower() in _OWN.get():
        return
    if not count.takes(len(call.args)):
        message = f"{call.function} takes {count}, not {len(call.args)}"
        hint = f"DESCRIBE FUNCTION {call.name} shows them"
        raise SqlExtError("FUNC-002", message, span=call.span, hint=hint)


def _check_arguments(function: Function, seen: CallTypes) -> None:
    call, types = seen.call, seen.types
    star = next((a for a in call.args if isinstance(a, e.Star)), None)
    # Spark has functions of all columns, and counts their different values.
    if star is not None and seen.mode == "flink" and (function.name != "COUNT" or call.distinct):
        raise SqlExtError("FUNC-003", "* stands for all rows in COUNT(*) alone", span=star.span, hint="name a column")
    # Neither has a place in a signature: * stands for no value, a name for any place.
    if any(isinstance(a, (e.NamedArgument, e.Star)) for a in call.args):
        return
    if not any(s.takes_count(len(types)) for s in function.signatures):
        raise SqlExtError(
            "FUNC-002",
            f"{function.name} takes {_counts(function)}, not {len(types)}",
            span=call.span,
            hint=f"write {_forms(function)}",
        )
    # Spark mode leaves types to Spark, which casts implicitly where Flink refuses.
    if seen.mode == "flink" and not any(s.takes(types) for s in function.signatures):
        given = ", ".join(t.flink() if t else "?" for t in types)
        forms = " or ".join(f"({', '.join(s.families)})" for s in function.signatures)
        raise SqlExtError(
            "TYPE-004",
            f"{function.name} cannot be applied to ({given})",
            span=call.span,
            hint=f"it takes {forms}",
        )
    if function.kind == "aggregate" and call.distinct and len(types) > 1 and function.name == "COUNT":
        _refuse_count_of_many(seen)


def _refuse_count_of_many(seen: CallTypes) -> None:
    """Flink 2.3: "We now only support the count of one field." (case group_agg/distinct_agg_multi)."""
    if seen.mode == "flink":
        raise SqlExtError(
            "FUNC-003",
            "COUNT(DISTINCT ...) takes one column",
            span=seen.call.span,
            hint="count a ROW or a concatenation of the columns",
        )


def _check_filter(call: e.Call, types: ArgumentTypes) -> None:
    if call.filter is not None:
        need_condition(call.filter, types.type_of(call.filter))


def _check_clause(call: e.Call, mode: str) -> None:
    """Refuse what only a clause gives a meaning: ranks without OVER, the bounds of a group window without GROUP BY."""
    function = functions.find(call.function)
    if function is not None and function.kind == "window" and call.over is None:
        hint = f"{call.span.one_line} OVER (PARTITION BY ... ORDER BY ...)"
        raise SqlExtError("OVER-002", f"{function.name} needs OVER", span=call.span, hint=hint)
    if mode == "flink" and call.function in functions.AUXILIARY:
        window = call.function.partition("_")[0]
        message = f"{call.function} needs GROUP BY {window}(...) in the same SELECT"
        raise SqlExtError("WINDOW-007", message, span=call.span, hint=f"GROUP BY {window}(...), with equal arguments")
    if mode == "flink" and call.function in functions.GROUP_WINDOWS:
        message = f"{call.function} is a window, and no value"
        hint = f"FROM TABLE({call.function}(TABLE t, DESCRIPTOR(ts), ...)) and its column window_start, or GROUP BY"
        raise SqlExtError("WINDOW-007", message, span=call.span, hint=hint)
    if call.function == "DESCRIPTOR":
        hint = "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
        raise SqlExtError(
            "WINDOW-007", "DESCRIPTOR names a column to a table function alone", span=call.span, hint=hint
        )


def _check_scalar(call: e.Call, function: Function | None) -> None:
    """DISTINCT and FILTER belong to aggregates."""
    if function is None or function.kind != "scalar" or not (call.distinct or call.filter):
        return
    word = "DISTINCT" if call.distinct else "FILTER"
    raise SqlExtError("FUNC-003", f"{word} needs an aggregate function; {function.name} is none", span=call.span)


def _forms(function: Function) -> str:
    return " or ".join(f"{function.name}({', '.join(s.families)})" for s in function.signatures)


def _counts(function: Function) -> str:
    least = min(s.least for s in function.signatures)
    mosts = [s.most for s in function.signatures]
    most = None if None in mosts else max(m for m in mosts if m is not None)
    if most is None:
        return f"at least {counted(least, 'argument')}"
    return counted(least, "argument") if least == most else f"{least} to {counted(most, 'argument')}"


def is_aggregate(call: e.Call, mode: str) -> bool:
    """Whether a call is an aggregate of a group: not with OVER, and known as such to Flink, Spark or the user."""
    if call.over is not None:
        return False
    if call.registered is not None:
        return True
    function = functions.find(call.function)
    if function is not None:
        return function.kind == "aggregate"
    return functions.is_spark_aggregate(call.name)


def contains_aggregate(expr: e.Node, mode: str = "spark") -> bool:
    """Whether an aggregate stands in an expression, sub-queries aside."""
    if isinstance(expr, Query):
        return False
    if isinstance(expr, e.Call) and is_aggregate(expr, mode):
        return True
    return any(contains_aggregate(child, mode) for child in expr.children())
