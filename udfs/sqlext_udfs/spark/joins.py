"""Offer joins of two streams (``sqlext_udfs.joins.operator``) as the stateful function ``join``."""

from __future__ import annotations

from sqlext_udfs.joins.making import join_operator
from sqlext_udfs.spark.specified import SpecifiedFunction


class JoinFunction(SpecifiedFunction):
    """The stateful function ``join``, whose specification has the fields that ``join_operator`` takes."""

    def __init__(self) -> None:
        super().__init__(join_operator, "JOIN")
