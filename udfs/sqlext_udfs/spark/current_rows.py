"""Offer the current rows of upserts (``sqlext_udfs.current_rows``) as the stateful function ``current``."""

from __future__ import annotations

from sqlext_udfs.current_rows import current_operator
from sqlext_udfs.spark.specified import SpecifiedFunction


class CurrentFunction(SpecifiedFunction):
    """The stateful function ``current``, whose specification has the fields of ``CurrentSpecification``."""

    def __init__(self) -> None:
        super().__init__(current_operator, "PRIMARY KEY")
