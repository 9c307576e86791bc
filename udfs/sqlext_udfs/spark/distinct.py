"""Offer SELECT DISTINCT over a stream (``sqlext_udfs.distinct``) as the stateful function ``distinct``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlext.settings import DEFAULT_BUCKETS
from sqlext_udfs import distinct as core
from sqlext_udfs.spark.buckets import OperatorTime, apply_in_buckets
from sqlext_udfs.spark.comparable_types import require_comparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class DistinctFunction:
    """The stateful function ``distinct``.

    Arguments: ``ttl`` (ms after which a row is forgotten) with ``name`` (see ``OperatorTime``); ``buckets``, by default
    ``DEFAULT_BUCKETS``.
    """

    def apply(self, frame: DataFrame, arguments: Mapping[str, Any], ticks: DataFrame | None = None) -> DataFrame:
        """Return each distinct row once: of a stream when it first comes.

        Raises:
            SqlExtError: FUNC-011 for a column that cannot be compared, FUNC-012 for a wrong number of buckets.
        """
        schema = frame.schema
        require_comparable(schema, "DISTINCT")
        # Spark's own DISTINCT keeps nothing here.
        if not frame.isStreaming:
            return frame.distinct()
        buckets = int(arguments.get("buckets", DEFAULT_BUCKETS))
        ttl = arguments.get("ttl")
        return apply_in_buckets(
            frame,
            core.DistinctOperator(ttl),
            keys=range(len(schema)),
            output=schema,
            buckets=buckets,
            time=OperatorTime(str(arguments["name"]), False, ticks) if ttl is not None else None,
            before=arguments.get("before"),
        )
