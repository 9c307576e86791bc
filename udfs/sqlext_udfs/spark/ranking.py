"""Offer Top-N and deduplication (``sqlext_udfs.ranking``) as the stateful function ``rank``."""

from __future__ import annotations

from sqlext_udfs.ranking.making import rank_operator
from sqlext_udfs.spark.specified import SpecifiedFunction


class RankFunction(SpecifiedFunction):
    """The stateful function ``rank``, whose specification has the fields of ``RankSpecification``; enums by value."""

    def __init__(self) -> None:
        super().__init__(rank_operator, "PARTITION BY")
