"""Offer ``sqlext_udfs.ranking``: Top-N and deduplication as ``rank``, functions OVER values as ``running``."""

from __future__ import annotations

from sqlext_udfs.ranking.making import rank_operator
from sqlext_udfs.ranking.running import running_operator
from sqlext_udfs.spark.specified import SpecifiedFunction


class RankFunction(SpecifiedFunction):
    """The stateful function ``rank``, whose specification has the fields of ``RankSpecification``; enums by value."""

    def __init__(self) -> None:
        super().__init__(rank_operator, "PARTITION BY")


class RunningFunction(SpecifiedFunction):
    """The stateful function ``running``; its specification is that of ``running_operator``."""

    def __init__(self) -> None:
        super().__init__(running_operator, "PARTITION BY")
