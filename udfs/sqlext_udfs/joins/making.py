"""Make the operator of joins of the plain values that a plan says."""

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

#: The bounds by name; what follows the name are their fields.
_BOUNDS: Mapping[str, type[Bound]] = {
    "none": Unbounded,
    "interval": IntervalBound,
    "arrival": ArrivalBound,
    "window": WindowBound,
    "version": VersionBound,
    "nearest": NearestBound,
}


def join_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> JoinOperator:
    """Return the operator.

    Args:
        fields: those of ``JoinSpecification``: ``join`` as the value of a ``JoinKind``, ``conditions`` as the fields of
            each ``Comparison``, ``rest`` as JSON, ``bound`` as a name (``none``, ``interval``, ``arrival``, ``window``,
            ``version``, ``nearest``) and the fields of that bound.
        types: of the columns that go in.
    """
    name, *values = fields["bound"]
    own = {
        **fields,
        "join": JoinKind(fields["join"]),
        "conditions": tuple(Comparison(*c) for c in fields["conditions"]),
        "rest": tuple(expression_from_json(text) for text in fields["rest"]),
        "bound": _BOUNDS[name](*values),
    }
    return JoinOperator(JoinSpecification(**own), types)
