"""Make stateful functions of operators that a specification describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from sqlext.settings import DEFAULT_BUCKETS
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.spark.arrow_schemas import spark_type
from sqlext_udfs.spark.buckets import OperatorTime, apply_in_buckets
from sqlext_udfs.spark.comparable_types import arrow_types
from sqlext_udfs.spark.registry import MadeOperator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SpecifiedOperator(BucketOperator[Any], Protocol):
    """An operator that knows what comes out of it."""

    @property
    def output_types(self) -> Sequence[pa.DataType]:
        """The types of the columns that come out; the last one is the row kind."""


#: Makes an operator of its specification's fields and the types of the columns that go in.
Maker = Callable[[Mapping[str, Any], Sequence[pa.DataType]], SpecifiedOperator]


class SpecifiedFunction:
    """A stateful function of an operator with a specification.

    Args:
        make: makes the operator.
        clause: the clause with the keys, for messages.

    Arguments of a call:

    - ``specification``: the fields of the operator's specification; ``keys`` is how many of the first columns are the
      key;
    - ``columns``: names of what comes out;
    - ``name``, ``event_time``, ``lag``: see ``OperatorTime``; ``packed``: see ``PackedFunction``;
    - ``buckets``: by default ``DEFAULT_BUCKETS``;
    - ``before``: the ``StateBefore`` with which it begins.
    """

    def __init__(self, make: Maker, clause: str) -> None:
        self._make = make
        self._clause = clause

    def apply(self, frame: DataFrame, arguments: Mapping[str, Any], ticks: DataFrame | None = None) -> DataFrame:
        """Return what the operator makes of a DataFrame.

        Raises:
            SqlExtError: FUNC-011 for a key that cannot be compared, FUNC-012 for a wrong number of buckets.
        """
        from pyspark.sql.types import StructField, StructType

        packed = arguments.get("packed")
        keys, buckets = _keys_and_buckets(arguments)
        types = arrow_types(frame.schema, keys, self._clause) if packed is None else packed
        operator = self._make(dict(arguments["specification"]), types)
        named = zip(arguments["columns"], operator.output_types, strict=True)
        output = StructType([StructField(n, spark_type(t)) for n, t in named])
        # An operator that asks for no time has no clock in state, and is not called without rows.
        timed = ticks is not None or arguments["event_time"]
        time = OperatorTime(str(arguments["name"]), arguments["event_time"], ticks, arguments["lag"]) if timed else None
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
        return MadeOperator(self._make(dict(arguments["specification"]), types), *_keys_and_buckets(arguments))


def _keys_and_buckets(arguments: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many columns are the key, and in how many buckets keys are."""
    return int(dict(arguments["specification"])["keys"]), int(arguments.get("buckets", DEFAULT_BUCKETS))
