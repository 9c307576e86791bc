"""Offer CURRENT_WATERMARK (``sqlext_udfs.watermark_column``) as the stateful function ``watermark``."""

from __future__ import annotations

from sqlext_udfs.spark.specified import SpecifiedFunction
from sqlext_udfs.watermark_column import watermark_operator


class WatermarkFunction(SpecifiedFunction):
    """The stateful function ``watermark``, whose specification has the fields of ``WatermarkSpecification``."""

    def __init__(self) -> None:
        super().__init__(watermark_operator, "CURRENT_WATERMARK")
