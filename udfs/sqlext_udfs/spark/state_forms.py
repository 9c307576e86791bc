"""Keep state by the form of ``transformWithState`` that Spark has: on rows, or on DataFrames of pandas.

Rows travel packed (``kernel.packing``), so pandas sees a key, bytes and a time alone, and no value of a user's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from sqlext.capabilities import CONNECT_STATE, ROW_STATE, has, missing
from sqlext_udfs.spark.bucket_processor import OUTPUT, BucketProcessor

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, Row


def with_state(
    packed: DataFrame, processor: BucketProcessor, time_mode: str, initial: DataFrame | None = None
) -> DataFrame:
    """Return what a processor makes of a stream of packed rows, as ``OUTPUT``.

    Args:
        packed: rows as ``packing.PACKED``.
        processor: keeps the state of a bucket.
        time_mode: ``EventTime`` or ``None``, as of ``transformWithState``.
        initial: the state with which a new checkpoint begins, as ``rebucketing.INITIAL``.

    Raises:
        SqlExtError: ENV-014 if Spark Connect has neither form.
    """
    grouped = packed.groupBy("bucket")
    if not hasattr(grouped, "transformWithStateInPandas"):  # a client of Spark Connect
        raise missing(CONNECT_STATE)
    if has(ROW_STATE):
        begun = None if initial is None else initial.groupBy("bucket")
        return grouped.transformWithState(processor, OUTPUT, "Append", time_mode, begun)
    # A number that can be NULL would become a float.
    texts = packed.withColumn("now", packed["now"].cast("string"))
    begun = None if initial is None else _as_texts(initial).groupBy("bucket")
    framed = FrameProcessor(processor)
    return texts.groupBy("bucket").transformWithStateInPandas(framed, OUTPUT, "Append", time_mode, begun)


class FrameProcessor(StatefulProcessor):
    """Let a processor of rows take and give DataFrames of pandas; the time of a tick comes as a text."""

    def __init__(self, processor: BucketProcessor) -> None:
        self._processor = processor

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._processor.init(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Any]:  # noqa: N802, N803
        """Process all rows of a bucket in a micro-batch."""
        yield from _frames(self._processor.handleInputRows(key, _rows(rows), timerValues))

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Any]:
        """Let a bucket know that the watermark has moved."""
        yield from _frames(self._processor.handleExpiredTimer(key, timerValues, expiredTimerInfo))

    def handleInitialState(self, key: Any, initialState: Any, timerValues: TimerValues) -> None:  # noqa: N802, N803
        """Let a bucket begin with a state of another checkpoint."""
        for row in initialState.to_dict("records"):
            times = {name: None if row[name] is None else int(row[name]) for name in ("watermark", "now")}
            self._processor.handleInitialState(key, {**row, **times}, timerValues)


def _as_texts(initial: DataFrame) -> DataFrame:
    return initial.withColumns({name: initial[name].cast("string") for name in ("watermark", "now")})


def _rows(frames: Iterable[pd.DataFrame]) -> Iterator[dict[str, Any]]:
    for frame in frames:
        for rows, now in zip(frame["rows"], frame["now"], strict=True):
            yield {"rows": rows, "now": None if now is None else int(now)}


def _frames(rows: Iterable[Row]) -> Iterator[pd.DataFrame]:
    import pandas as pd

    # One at a time: a row can be as large as a packed table.
    for row in rows:
        yield pd.DataFrame([row.asDict()])
