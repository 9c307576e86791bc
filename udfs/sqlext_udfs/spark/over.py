"""Offer functions OVER frames as the stateful function ``over``, and those of whole windows as ``window_over``.

The operators are ``sqlext_udfs.over.operator`` and ``sqlext_udfs.over.windowed``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlext.user_functions import UserFunctions
from sqlext_udfs.over.making import Known, over_operator, windowed_over_operator
from sqlext_udfs.spark.registry import MadeOperator
from sqlext_udfs.spark.specified import SpecifiedFunction, SpecifiedOperator
from sqlext_udfs.spark.user_code import aggregates_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Makes an operator of what gives aggregates of users their classes, a specification's fields, and types.
Maker = Callable[[Known, Mapping[str, Any], Sequence[pa.DataType]], SpecifiedOperator]


class OverFunction:
    """The stateful function ``over``.

    Arguments: those of ``SpecifiedFunction``, where ``specification`` has the fields of ``OverSpecification``. A call
    is function, inputs, frame (unit, and rows or ms), distinct, parameters. ``registered`` is the ``UserFunctions`` of
    the session.
    """

    def apply(self, frame: DataFrame, arguments: Mapping[str, Any], ticks: DataFrame | None = None) -> DataFrame:
        """Return each row with its results.

        Raises:
            SqlExtError: FUNC-011 for a key that cannot be compared, FUNC-012 for a wrong number of buckets,
                FUNC-022 for a function that there is not.
        """
        return self._function(arguments, frame.sparkSession).apply(frame, arguments, ticks)

    def made(self, arguments: Mapping[str, Any], types: Sequence[pa.DataType], spark: SparkSession) -> MadeOperator:
        """Return the operator; see ``PackedFunction``."""
        return self._function(arguments, spark).made(arguments, types, spark)

    def _function(self, arguments: Mapping[str, Any], spark: SparkSession) -> SpecifiedFunction:
        registered = arguments.get("registered") or UserFunctions()
        known = partial(aggregates_of, registered=registered, spark=spark)
        return SpecifiedFunction(partial(self.maker(), known), "PARTITION BY")

    def maker(self) -> Maker:
        """Return what makes the operator."""
        return over_operator


class WindowedOverFunction(OverFunction):
    """The stateful function ``window_over``; its specification has the fields of ``WindowedOverSpecification``."""

    def maker(self) -> Maker:
        """Return what makes the operator."""
        return windowed_over_operator
