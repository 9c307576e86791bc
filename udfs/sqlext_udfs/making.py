"""Make the operators of a plan by the names of their functions, without Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.python import PYTHON
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.windows.policy import KeepUsing
from sqlext_udfs.windows.triggers.tree import Using, tree

Types = Sequence[pa.DataType]
Columns = tuple[tuple[str, pa.DataType], ...]


class NeedsSparkError(Exception):
    """Why an operator cannot be made here."""


class MadeHere(NamedTuple):
    """An operator, how many of its first columns are the key, and what comes out of it."""

    operator: BucketOperator[Any]
    keys: int
    columns: Columns


class _Specified(BucketOperator[Any], Protocol):
    @property
    def output_types(self) -> Types: ...


def made(function: str, arguments: Mapping[str, Any], names: Sequence[str], types: Types) -> MadeHere:
    """Return the operator of a function.

    Args:
        function: its name, as a plan says it.
        arguments: those of the plan's node.
        names, types: of the columns that go in.

    Raises:
        NeedsSparkError: for what is known to Spark alone.
    """
    if function == "window":
        return _window(arguments, types)
    if function == "distinct":
        from sqlext_udfs.distinct import DistinctOperator

        columns = tuple(zip(names, types, strict=True))
        return MadeHere(DistinctOperator(arguments.get("ttl")), len(types), columns)
    fields = dict(arguments["specification"])
    # Imported only now: a query that uses no such operator loads none of them.
    module, maker = _MAKERS[function]
    operator = cast(_Maker, getattr(import_module(module), maker))(fields, types)
    return MadeHere(operator, int(fields["keys"]), tuple(zip(arguments["columns"], operator.output_types, strict=True)))


def _window(arguments: Mapping[str, Any], types: Types) -> MadeHere:
    from sqlext_udfs.windows.making import NO_CLASSES, columns_of, shared_keys, specification_of, window_operator

    specification = specification_of(arguments, known_without_spark)
    policy = specification.policy
    if isinstance(policy.evictor, KeepUsing) or any(isinstance(t, Using) for t in tree(policy.trigger)):
        raise NeedsSparkError("a trigger or an evictor of the user's")
    operator = window_operator(specification, arguments, types, lambda: NO_CLASSES)
    return MadeHere(operator, shared_keys(specification, arguments), tuple(columns_of(specification, arguments, types)))


def known_without_spark(calls: Sequence[AggregateCall]) -> tuple[AggregateCall, ...]:
    """Return aggregates as they are; raises NeedsSparkError for one of the user's."""
    if any(call.function == PYTHON for call in calls):
        raise NeedsSparkError("an aggregate of the user's")
    return tuple(calls)


_Maker = Callable[[Mapping[str, Any], Types], _Specified]
#: Function -> module and name of what makes its operator of the fields of a specification and the types.
_MAKERS: Mapping[str, tuple[str, str]] = {
    "current": ("sqlext_udfs.current_rows", "current_operator"),
    "join": ("sqlext_udfs.joins.making", "join_operator"),
    "match": ("sqlext_udfs.matching.making", "match_operator"),
    "over": ("sqlext_udfs.over.making", "plain_over_operator"),
    "rank": ("sqlext_udfs.ranking.making", "rank_operator"),
    "running": ("sqlext_udfs.ranking.running", "running_operator"),
    "window_over": ("sqlext_udfs.over.making", "plain_windowed_over_operator"),
    "watermark": ("sqlext_udfs.watermark_column", "watermark_operator"),
}
