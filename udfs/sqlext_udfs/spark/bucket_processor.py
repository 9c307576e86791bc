"""Run any bucket operator as the one processor of ``transformWithState``: one state value per bucket, and its levels.

Spark starts a Python process for each query only to ask what state there is. So this module imports next to nothing.
The operator is unpacked with the first rows, and numpy, Arrow and all that it needs with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

if TYPE_CHECKING:
    from pyspark.sql import Row

    from sqlext_udfs.kernel.levelled import LevelRules
    from sqlext_udfs.kernel.operator import BucketOperator
    from sqlext_udfs.spark.bucket_steps import BucketSteps

#: The names of the state variables, for Spark's state data source.
STATE = "bucket"
LEVELS = "levels"
CLOCK = "clock"
# Part of each checkpoint: with other columns its state could not be read.
_STATE_TYPE = StructType([StructField("buckets", IntegerType()), StructField("state", BinaryType())])
_NUMBER_TYPE = StructType([StructField("number", IntegerType())])
_LEVEL_TYPE = StructType(
    [StructField("id", StringType()), StructField("state", BinaryType()), StructField("gone", BinaryType())]
)
_CLOCK_NAMES = ("watermark", "now", "event_deadline", "processing_deadline", "open_groups")
_CLOCK_TYPE = StructType([StructField(name, LongType()) for name in _CLOCK_NAMES])
#: What comes out of a bucket in a micro-batch: rows as packed tables, and one row with counts.
OUTPUT = "rows BINARY, late BIGINT, closed BIGINT, open BIGINT"


class BucketProcessor(StatefulProcessor):
    """Declare the state of a bucket, and leave the rest to ``BucketSteps``.

    Args:
        operator: the semantics.
        buckets: how many buckets there are. The state keeps this number: with another one a key's rows would go to a
            bucket that does not know them, and come out wrong without a sign.
        timed: whether the operator asks what time it is.
        event_time: whether the query has a watermark; the bucket is then called whenever that moves.
        lag: by how many ms the operator's watermark stays behind the query's.
        keys: how many columns choose the bucket.
        rules: when state is kept in levels; by default those of ``LevelRules``.
    """

    def __init__(
        self,
        operator: BucketOperator[Any],
        buckets: int,
        *,
        timed: bool,
        event_time: bool,
        lag: int = 0,
        keys: int = 0,
        rules: LevelRules | None = None,
    ) -> None:
        from sqlext_udfs.spark.bucket_steps import BucketSteps

        dumps: Callable[[object], bytes] = cloudpickle.dumps
        # Bytes and not the object: Spark unpickles the processor in processes that never see a row.
        steps = partial(BucketSteps, operator, buckets, event_time=event_time, lag=lag, keys=keys, rules=rules)
        self._packed = dumps(steps)
        self._timed = timed
        self._reads_levels = operator.reads_levels and keys > 0
        self._unpacked: BucketSteps | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state (Spark calls this on the driver too)."""
        self._handle = handle
        self._value = handle.getValueState(STATE, _STATE_TYPE)
        # Declared only if it is used: a checkpoint remembers which state variables a query has.
        self._clock = handle.getValueState(CLOCK, _CLOCK_TYPE) if self._timed else None
        # The same holds for levels, which only keys that go their own way have.
        levels = handle.getMapState(LEVELS, _NUMBER_TYPE, _LEVEL_TYPE) if self._reads_levels else None
        self._levels = levels
        self._unpacked = None

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """Process all rows of a bucket in a micro-batch."""
        yield from self._steps().rows(rows, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        """Let a bucket know that the watermark has moved."""
        yield from self._steps().moved(timerValues)

    def handleInitialState(self, key: Any, initialState: Any, timerValues: TimerValues) -> None:  # noqa: N802, N803
        """Let a bucket begin with a state of another checkpoint (``rebucketing.INITIAL``)."""
        state, watermark, now = (initialState[name] for name in ("state", "watermark", "now"))
        self._steps().begin(state, watermark, now)

    def _steps(self) -> BucketSteps:
        if self._unpacked is None:
            made: Callable[..., BucketSteps] = cloudpickle.loads(self._packed)
            self._unpacked = made(self._handle, self._value, self._clock, self._levels)
        return self._unpacked
