"""The window operator (``udfs.core.window_operator``) as a stateful function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlext.udfs.core.accumulator import Aggregate
from sqlext.udfs.core.arrow_types import plain_schema
from sqlext.udfs.core.group_aggregate import GroupAggregate
from sqlext.udfs.core.latest import Latest
from sqlext.udfs.core.operators import BucketOperator
from sqlext.udfs.core.policy_json import policy_from_json
from sqlext.udfs.core.trigger_rules import uses_watermark
from sqlext.udfs.core.window_operator import WindowOperator
from sqlext.udfs.core.window_specification import WindowSpecification, output_types
from sqlext.udfs.processors.buckets import DEFAULT_BUCKETS, Time, apply_in_buckets
from sqlext.udfs.processors.comparable_types import require_comparable
from sqlext.udfs.processors.user_code import aggregates_of, classes_of
from sqlext.user_functions import UserFunctions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class WindowFunction:
    """The stateful function ``window``.

    Arguments: ``policy`` (JSON), ``aggregates`` (function, positions, distinct, parameters), ``places`` (what of a row
    stands where: ``keys`` is how many there are; and ``ttl``), ``columns`` (names of what comes out), ``latest``
    (whether only the last pane of a key, window and micro-batch is wanted), ``name``, ``lag`` (see ``Time``),
    ``registered`` (the ``UserFunctions`` of the session; all other arguments are plain values), and ``buckets``, by
    default ``DEFAULT_BUCKETS``.
    """

    def apply(self, frame: DataFrame, arguments: Mapping[str, Any], ticks: DataFrame | None = None) -> DataFrame:
        """Return the panes of a streaming DataFrame.

        Raises:
            SqlExtError: FUNC-011 for a key that cannot be compared, FUNC-012 for a wrong number of buckets.
        """
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        registered = arguments.get("registered") or UserFunctions()
        specification = _specification(arguments, registered, frame.sparkSession)
        keys = StructType(frame.schema.fields[: specification.keys])
        require_comparable(keys, "GROUP BY")
        types = plain_schema(to_arrow_schema(frame.schema, timezone="UTC")).types
        operator: BucketOperator[Any]
        if specification.kind is not None or specification.ttl is not None:
            operator = GroupAggregate(specification, types)
        else:
            operator = WindowOperator(specification, types, *classes_of(specification.policy, registered))
        if arguments.get("latest"):
            operator = Latest(operator, specification.keys)
        return apply_in_buckets(
            frame,
            operator,
            keys=range(specification.keys),
            output=_output(specification, types, arguments["columns"]),
            buckets=int(arguments.get("buckets", DEFAULT_BUCKETS)),
            time=Time(str(arguments["name"]), uses_watermark(specification.policy), ticks, arguments.get("lag", 0)),
        )


def _specification(arguments: Mapping[str, Any], registered: UserFunctions, spark: SparkSession) -> WindowSpecification:
    aggregates = aggregates_of([Aggregate(*a) for a in arguments["aggregates"]], registered, spark)
    places = dict(arguments["places"])
    return WindowSpecification(policy=policy_from_json(arguments["policy"]), aggregates=aggregates, **places)


def _output(specification: WindowSpecification, types: list[Any], names: tuple[str, ...]) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    found = output_types(specification, types)
    return StructType([StructField(n, from_arrow_type(t)) for n, (_, t) in zip(names, found, strict=True)])
