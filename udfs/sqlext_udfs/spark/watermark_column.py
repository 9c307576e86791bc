"""Offer CURRENT_WATERMARK (``sqlext_udfs.watermark_column``) as the stateful function ``watermark``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext_udfs.spark.specified import SpecifiedFunction, SpecifiedOperator
from sqlext_udfs.watermark_column import WatermarkOperator, WatermarkSpecification


class WatermarkFunction(SpecifiedFunction):
    """The stateful function ``watermark``, whose specification has the fields of ``WatermarkSpecification``."""

    def __init__(self) -> None:
        super().__init__(_operator, "CURRENT_WATERMARK")


def _operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> SpecifiedOperator:
    return WatermarkOperator(WatermarkSpecification(**fields), types)
