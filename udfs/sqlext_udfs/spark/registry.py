"""Find stateful functions by name: the seam between a rewritten query and what Spark SQL cannot express.

A node of a plan names a function. Its rewrite is a view (``rewrite.script.model.OperatorView``). Here the name becomes
the operator that makes this view from its input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlext.errors import SqlExtError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from sqlext_udfs.kernel.operator import BucketOperator


#: Under this name and the operator's, Spark's progress has what an operator counted in a micro-batch: rows ``late``
#: and ``closed`` (dropped), groups ``open``.
OBSERVED = "sqlext operator "
COUNTS = ("late", "closed", "open")


class StatefulFunction(Protocol):
    """An operator with state over a streaming DataFrame."""

    def apply(self, frame: DataFrame, arguments: Mapping[str, Any], ticks: DataFrame | None) -> DataFrame:
        """Return the operator's output.

        Args:
            frame: its input; event time, where it needs one, is a plain BIGINT of milliseconds.
            arguments: those of the plan's node.
            ticks: a stream of one column ``now``, ms since 1970 UTC, for an operator that asks what time it is.
        """


class MadeOperator(NamedTuple):
    """The operator of some arguments.

    Attributes:
        operator: the semantics.
        keys: how many of its first columns are the key.
        buckets: how many it has.
    """

    operator: BucketOperator[Any]
    keys: int
    buckets: int


class PackedFunction(StatefulFunction, Protocol):
    """A stateful function whose rows may be packed, and worked on in part, where they are read.

    It then finds them packed, and among its arguments ``packed``: the Arrow types of the rows.
    """

    def made(self, arguments: Mapping[str, Any], types: Sequence[pa.DataType], spark: SparkSession) -> MadeOperator:
        """Return the operator of its arguments.

        Args:
            arguments: those of the plan's node.
            types: of the columns that go in.
            spark: may have functions of the user.
        """


#: Name -> module and attribute of a function without arguments that makes the operator: imported when first used.
_BUILT_IN: dict[str, tuple[str, str]] = {
    "current": ("sqlext_udfs.spark.current_rows", "CurrentFunction"),
    "distinct": ("sqlext_udfs.spark.distinct", "DistinctFunction"),
    "join": ("sqlext_udfs.spark.joins", "JoinFunction"),
    "match": ("sqlext_udfs.spark.matching", "MatchFunction"),
    "over": ("sqlext_udfs.spark.over", "OverFunction"),
    "rank": ("sqlext_udfs.spark.ranking", "RankFunction"),
    "running": ("sqlext_udfs.spark.ranking", "RunningFunction"),
    "watermark": ("sqlext_udfs.spark.watermark_column", "WatermarkFunction"),
    "window": ("sqlext_udfs.spark.windows", "WindowFunction"),
    "window_over": ("sqlext_udfs.spark.over", "WindowedOverFunction"),
}
_registered: dict[str, Callable[[], StatefulFunction]] = {}


def register(name: str, make: Callable[[], StatefulFunction]) -> None:
    """Register a stateful function under a name; a second registration replaces the first."""
    _registered[name] = make


def operator(name: str) -> StatefulFunction:
    """Return the stateful function of a name.

    Raises:
        SqlExtError: FUNC-010 if there is none.
    """
    if name in _registered:
        return _registered[name]()
    if name not in _BUILT_IN:
        known = [*_BUILT_IN, *_registered]
        raise SqlExtError("FUNC-010", f"there is no stateful function `{name}`", hint=did_you_mean(name, known))
    # Imported only now: a session that uses no such function loads none of them.
    module, attribute = _BUILT_IN[name]
    made: StatefulFunction = getattr(import_module(module), attribute)()
    return made
