"""Offer MATCH_RECOGNIZE (``sqlext_udfs.matching.operator``) as the stateful function ``match``."""

from __future__ import annotations

from sqlext_udfs.matching.making import match_operator
from sqlext_udfs.spark.specified import SpecifiedFunction


class MatchFunction(SpecifiedFunction):
    """The stateful function ``match``, whose specification has ``match``: a ``MatchSpecification`` as JSON."""

    def __init__(self) -> None:
        super().__init__(match_operator, "PARTITION BY")
