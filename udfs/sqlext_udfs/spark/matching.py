"""Offer MATCH_RECOGNIZE (``sqlext_udfs.matching.operator``) as the stateful function ``match``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext_udfs.matching.operator import MatchOperator
from sqlext_udfs.matching.specification import specification_from_json
from sqlext_udfs.spark.specified import SpecifiedFunction, SpecifiedOperator


class MatchFunction(SpecifiedFunction):
    """The stateful function ``match``, whose specification has ``match``: a ``MatchSpecification`` as JSON."""

    def __init__(self) -> None:
        super().__init__(_operator, "PARTITION BY")


def _operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> SpecifiedOperator:
    return MatchOperator(specification_from_json(fields["match"]), types)
