"""Make the operator of Top-N of the plain values that a plan says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext_udfs.ranking.at_time import TimedRankOperator
from sqlext_udfs.ranking.operator import RankOperator
from sqlext_udfs.ranking.specification import Emission, Ranking, RankSpecification, SortKey


def rank_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> RankOperator | TimedRankOperator:
    """Return the operator.

    Args:
        fields: those of ``RankSpecification``; enums by value.
        types: of the columns that go in.
    """
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
