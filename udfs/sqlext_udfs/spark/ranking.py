"""Offer Top-N and deduplication (``sqlext_udfs.ranking``) as the stateful function ``rank``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext_udfs.ranking.at_time import TimedRankOperator
from sqlext_udfs.ranking.operator import RankOperator
from sqlext_udfs.ranking.specification import Emission, Ranking, RankSpecification, SortKey
from sqlext_udfs.spark.specified import SpecifiedFunction, SpecifiedOperator


class RankFunction(SpecifiedFunction):
    """The stateful function ``rank``, whose specification has the fields of ``RankSpecification``; enums by value."""

    def __init__(self) -> None:
        super().__init__(_operator, "PARTITION BY")


def _operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> SpecifiedOperator:
    emission = Emission(fields["emission"])
    own = {
        **fields,
        "order": tuple(SortKey(*item) for item in fields["order"]),
        "ranking": Ranking(fields["ranking"]),
        "emission": emission,
    }
    specification = RankSpecification(**own)
    if emission is Emission.CHANGES:
        return RankOperator(specification, types)
    return TimedRankOperator(specification, types)
