"""Make the operator of functions OVER frames of the plain values that a plan says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.making import known_without_spark
from sqlext_udfs.over.operator import OverOperator
from sqlext_udfs.over.specification import OverCall, OverFrame, OverSpecification
from sqlext_udfs.over.windowed import WindowedOverOperator, WindowedOverSpecification
from sqlext_udfs.ranking.specification import SortKey

#: Gives aggregates of users their classes.
Known = Callable[[Sequence[AggregateCall]], Sequence[AggregateCall]]


def over_operator(known: Known, fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> OverOperator:
    """Return the operator.

    Args:
        known: gives aggregates of users their classes.
        fields: those of ``OverSpecification``. A call is function, inputs, frame (unit, and rows or ms), distinct,
            parameters.
        types: of the columns that go in.
    """
    calls = tuple(_call(call, known) for call in fields["calls"])
    return OverOperator(OverSpecification(**{**fields, "calls": calls}), types)


def plain_over_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> OverOperator:
    """Return the operator of calls of which none is the user's; see ``over_operator``."""
    return over_operator(known_without_spark, fields, types)


def windowed_over_operator(
    known: Known, fields: Mapping[str, Any], types: Sequence[pa.DataType]
) -> WindowedOverOperator:
    """Return the operator of functions OVER the rows of windows; ``fields`` are those of its specification."""
    calls = tuple(_call(call, known) for call in fields["calls"])
    orders = tuple(tuple(SortKey(*item) for item in order) for order in fields["orders"])
    own = {**fields, "calls": calls, "orders": orders, "order_of": tuple(fields["order_of"])}
    return WindowedOverOperator(WindowedOverSpecification(**own), types)


def plain_windowed_over_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> WindowedOverOperator:
    """Return the operator of calls of which none is the user's; see ``windowed_over_operator``."""
    return windowed_over_operator(known_without_spark, fields, types)


def _call(fields: Sequence[Any], known: Known) -> OverCall:
    function, inputs, frame, distinct, parameters = fields
    call = OverCall(function, tuple(inputs), OverFrame(*frame), distinct, tuple(parameters))
    (found,) = known([AggregateCall(call.function, call.inputs, distinct, call.parameters)])
    return replace(call, parameters=found.parameters)
