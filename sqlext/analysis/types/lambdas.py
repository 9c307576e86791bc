"""Check the lambdas of a call, and infer the types of their bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from sqlext.analysis.functions.lambdas import LambdaArgument, is_higher_order, lambda_argument
from sqlext.analysis.types.operands import need_condition
from sqlext.dialect.ast import expressions as e
from sqlext.errors import SqlExtError
from sqlext.plan.scope import own_parts
from sqlext.types import LogicalType


class LambdaTypes(Protocol):
    """Gives types inside of lambdas too."""

    def type_of(self, expr: e.Node) -> LogicalType | None:
        """Return the type of an expression, or None."""

    def within(self, parameters: Mapping[str, LogicalType | None]) -> AbstractContextManager[None]:
        """Let expressions use parameters, by their names in lower case."""


def body_type(
    call: e.Call, place: int, lambda_: e.Lambda, before: Sequence[LogicalType | None], types: LambdaTypes
) -> LogicalType | None:
    """Return the type of what a lambda returns.

    Args:
        call: whose argument it is.
        place: which one.
        before: the types of the arguments in front of it.
        types: gives those of the body.

    Raises:
        SqlExtError: FUNC-002 where no lambda is taken, or one with other parameters, NAME-006 for two parameters of a
            name, JOIN-017 for a sub-query in it, TYPE-003 where it must be a condition.
    """
    # A qualified name is a function of a Spark catalog, which Spark alone can look up.
    argument = None if "." in call.name else _argument(call, place, lambda_)
    _check_names(lambda_)
    for part in own_parts(lambda_.body):
        if isinstance(part, (e.InQuery, e.Exists, e.ScalarQuery)):
            hint = "compute it in a sub-query of FROM"
            raise SqlExtError("JOIN-017", "a lambda cannot have a sub-query", span=part.span, hint=hint)
    given = [] if argument is None else argument.parameters(before)
    known = dict.fromkeys((p.name.lower() for p in lambda_.parameters), None)
    with types.within({**known, **dict(zip(known, given, strict=False))}):
        type_ = types.type_of(lambda_.body)
    if argument is not None and argument.decides:
        need_condition(lambda_.body, type_)
    return type_


def _argument(call: e.Call, place: int, lambda_: e.Lambda) -> LambdaArgument:
    """Return what a function takes a lambda for."""
    argument = lambda_argument(call.function, place)
    if argument is None:
        hint = "TRANSFORM, FILTER, EXISTS, FORALL, AGGREGATE and the like take one"
        if is_higher_order(call.function):
            hint = f"DESCRIBE FUNCTION {call.name} shows where it takes one"
        raise SqlExtError("FUNC-002", f"{call.name} takes no lambda here", span=lambda_.span, hint=hint)
    most = len(argument.parameters(()))
    if not argument.least <= len(lambda_.parameters) <= most:
        message = f"the lambda of {call.name} takes {argument.counts(most)}, not {len(lambda_.parameters)}"
        names = ", ".join("xyz"[:most])
        hint = f"write {f'({names})' if most > 1 else names} -> ..."
        raise SqlExtError("FUNC-002", message, span=lambda_.span, hint=hint)
    return argument


def _check_names(lambda_: e.Lambda) -> None:
    names: set[str] = set()
    for parameter in lambda_.parameters:
        if parameter.name.lower() in names:
            message = f"the lambda has two parameters `{parameter.name}`"
            raise SqlExtError("NAME-006", message, span=parameter.span, hint="give it another name")
        names.add(parameter.name.lower())
