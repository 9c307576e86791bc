"""Offer the current rows of upserts (``sqlext_udfs.current_rows``) as the stateful function ``current``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext_udfs.current_rows import CurrentOperator, CurrentSpecification
from sqlext_udfs.spark.specified import SpecifiedFunction, SpecifiedOperator


class CurrentFunction(SpecifiedFunction):
    """The stateful function ``current``, whose specification has the fields of ``CurrentSpecification``."""

    def __init__(self) -> None:
        super().__init__(_operator, "PRIMARY KEY")


def _operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> SpecifiedOperator:
    return CurrentOperator(CurrentSpecification(**fields), types)
