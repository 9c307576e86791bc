"""CURRENT_WATERMARK (``udfs.core.watermark_operator``) as a stateful function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext.udfs.core.watermark_operator import WatermarkOperator, WatermarkSpecification
from sqlext.udfs.processors.specified import SpecifiedFunction, SpecifiedOperator


class Watermark(SpecifiedFunction):
    """The stateful function ``watermark``: the fields of ``WatermarkSpecification``."""

    def __init__(self) -> None:
        super().__init__(_operator, "CURRENT_WATERMARK")


def _operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> SpecifiedOperator:
    return WatermarkOperator(WatermarkSpecification(**fields), types)
