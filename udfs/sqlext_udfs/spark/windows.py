"""Offer windows, and GROUP BY without a window, as the stateful function ``window``.

The operators are ``sqlext_udfs.windows.operator`` and ``sqlext_udfs.grouping.operator``. Windows of rows that may be
taken back are ``sqlext_udfs.grouping.windows``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlext.settings import DEFAULT_BUCKETS
from sqlext.user_functions import UserFunctions
from sqlext_udfs.spark.arrow_schemas import spark_type
from sqlext_udfs.spark.buckets import OperatorTime, apply_in_buckets
from sqlext_udfs.spark.comparable_types import arrow_types
from sqlext_udfs.spark.registry import MadeOperator
from sqlext_udfs.spark.user_code import aggregates_of, classes_of
from sqlext_udfs.windows.making import columns_of, shared_keys, specification_of, window_operator
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.rules import uses_watermark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class WindowFunction:
    """The stateful function ``window``.

    Arguments, plain values but ``registered``:

    - ``policy``: JSON;
    - ``aggregates``: of each its function, positions, distinct, parameters;
    - ``places``: the other fields of ``WindowSpecification``: positions by name, ``keys`` and ``ttl``;
    - ``columns``: names of what the operator gives, and ``asked``: those of them that come out;
    - ``latest``: whether only the last pane of a key, window and micro-batch is wanted;
    - ``fill``: the fields of ``Filling``, where windows without rows come out;
    - ``name``, ``lag``: see ``OperatorTime``; ``packed``: see ``PackedFunction``;
    - ``registered``: the ``UserFunctions`` of the session;
    - ``buckets``: by default ``DEFAULT_BUCKETS``;
    - ``before``: the ``StateBefore`` with which it begins;
    - ``closed``: ms of the query's watermark less the lateness of then, up to which windows stay closed.
    """

    def apply(self, frame: DataFrame, arguments: Mapping[str, Any], ticks: DataFrame | None = None) -> DataFrame:
        """Return the panes of a streaming DataFrame.

        Raises:
            SqlExtError: FUNC-011 for a key that cannot be compared, FUNC-012 for a wrong number of buckets.
        """
        packed = arguments.get("packed")
        types = arrow_types(frame.schema, dict(arguments["places"])["keys"], "GROUP BY") if packed is None else packed
        specification = _specification(arguments, frame.sparkSession)
        operator, keys, buckets = _made(specification, arguments, types)
        output = _output(specification, types, arguments)
        time = OperatorTime(
            str(arguments["name"]), uses_watermark(specification.policy), ticks, arguments.get("lag", 0)
        )
        return apply_in_buckets(
            frame,
            operator,
            keys=range(keys),
            output=output,
            buckets=buckets,
            time=time,
            before=arguments.get("before"),
            packed=packed is not None,
        )

    def made(self, arguments: Mapping[str, Any], types: Sequence[pa.DataType], spark: SparkSession) -> MadeOperator:
        """Return the operator; see ``PackedFunction``."""
        return _made(_specification(arguments, spark), arguments, types)


def _made(
    specification: WindowSpecification, arguments: Mapping[str, Any], types: Sequence[pa.DataType]
) -> MadeOperator:
    classes = partial(classes_of, specification.policy, _registered(arguments))
    operator = window_operator(specification, arguments, types, classes)
    return MadeOperator(operator, shared_keys(specification, arguments), int(arguments.get("buckets", DEFAULT_BUCKETS)))


def _specification(arguments: Mapping[str, Any], spark: SparkSession) -> WindowSpecification:
    return specification_of(arguments, partial(aggregates_of, registered=_registered(arguments), spark=spark))


def _registered(arguments: Mapping[str, Any]) -> UserFunctions:
    return arguments.get("registered") or UserFunctions()


def _output(specification: WindowSpecification, types: Sequence[Any], arguments: Mapping[str, Any]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(n, spark_type(t)) for n, t in columns_of(specification, arguments, types)])
