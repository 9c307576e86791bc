"""Make the operators of a plan by the names of their functions, without Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.aggregates.python import PYTHON
from sqlext_udfs.current_rows import CurrentOperator, CurrentSpecification
from sqlext_udfs.distinct import DistinctOperator
from sqlext_udfs.joins.making import join_operator
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.matching.operator import MatchOperator
from sqlext_udfs.matching.specification import specification_from_json
from sqlext_udfs.over.making import over_operator
from sqlext_udfs.ranking.making import rank_operator
from sqlext_udfs.watermark_column import WatermarkOperator, WatermarkSpecification
from sqlext_udfs.windows.making import NO_CLASSES, columns_of, specification_of, window_operator
from sqlext_udfs.windows.policy import KeepUsing
from sqlext_udfs.windows.triggers.tree import Using, tree

Types = Sequence[pa.DataType]
Columns = tuple[tuple[str, pa.DataType], ...]


class NeedsSparkError(Exception):
    """Why an operator cannot be made here."""


class Made(NamedTuple):
    """An operator, how many of its first columns are the key, and what comes out of it."""

    operator: BucketOperator[Any]
    keys: int
    columns: Columns


class _Specified(BucketOperator[Any], Protocol):
    @property
    def output_types(self) -> Types: ...


def made(function: str, arguments: Mapping[str, Any], names: Sequence[str], types: Types) -> Made:
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
        columns = tuple(zip(names, types, strict=True))
        return Made(DistinctOperator(arguments.get("ttl")), len(types), columns)
    fields = dict(arguments["specification"])
    operator = _MAKERS[function](fields, types)
    return Made(operator, int(fields["keys"]), tuple(zip(arguments["columns"], operator.output_types, strict=True)))


def _window(arguments: Mapping[str, Any], types: Types) -> Made:
    specification = specification_of(arguments, _known)
    policy = specification.policy
    if isinstance(policy.evictor, KeepUsing) or any(isinstance(t, Using) for t in tree(policy.trigger)):
        raise NeedsSparkError("a trigger or an evictor of the user's")
    operator = window_operator(specification, arguments, types, lambda: NO_CLASSES)
    return Made(operator, specification.keys, tuple(columns_of(specification, arguments, types)))


def _known(calls: Sequence[AggregateCall]) -> tuple[AggregateCall, ...]:
    if any(call.function == PYTHON for call in calls):
        raise NeedsSparkError("an aggregate of the user's")
    return tuple(calls)


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], Types], _Specified]] = {
    "current": lambda fields, types: CurrentOperator(CurrentSpecification(**fields), types),
    "join": join_operator,
    "match": lambda fields, types: MatchOperator(specification_from_json(fields["match"]), types),
    "over": partial(over_operator, _known),
    "rank": rank_operator,
    "watermark": lambda fields, types: WatermarkOperator(WatermarkSpecification(**fields), types),
}
