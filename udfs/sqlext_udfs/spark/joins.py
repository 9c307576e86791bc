"""Offer joins of two streams (``sqlext_udfs.joins.operator``) as the stateful function ``join``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import (
    ArrivalBound,
    Bound,
    Comparison,
    IntervalBound,
    JoinKind,
    JoinSpecification,
    NearestBound,
    Unbounded,
    VersionBound,
    WindowBound,
)
from sqlext_udfs.matching.specification import expression_from_json
from sqlext_udfs.spark.specified import SpecifiedFunction, SpecifiedOperator

#: The bounds by name; what follows the name are their fields.
_BOUNDS: Mapping[str, type[Bound]] = {
    "none": Unbounded,
    "interval": IntervalBound,
    "arrival": ArrivalBound,
    "window": WindowBound,
    "version": VersionBound,
    "nearest": NearestBound,
}


class JoinFunction(SpecifiedFunction):
    """The stateful function ``join``, whose specification has the fields of ``JoinSpecification``.

    - ``join``: the value of a ``JoinKind``;
    - ``conditions``: the fields of each ``Comparison``;
    - ``rest``: expressions as JSON;
    - ``bound``: a name (``none``, ``interval``, ``arrival``, ``window``, ``version``, ``nearest``), then its fields.
    """

    def __init__(self) -> None:
        super().__init__(_operator, "JOIN")


def _operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> SpecifiedOperator:
    name, *values = fields["bound"]
    own = {
        **fields,
        "join": JoinKind(fields["join"]),
        "conditions": tuple(Comparison(*c) for c in fields["conditions"]),
        "rest": tuple(expression_from_json(text) for text in fields["rest"]),
        "bound": _BOUNDS[name](*values),
    }
    return JoinOperator(JoinSpecification(**own), types)
