"""Mark columns as Spark's event time. SQL has no word for it: it is metadata of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.quoting import identifier
from sqlext.rewrite.script.model import TagView

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Spark's mark of an event-time column (EventTimeWatermark.delayKey); its value does not matter to operators.
_EVENT_TIME = {"spark.watermarkDelayMs": 0}
#: Spark's mark of a column that its own ``window()`` made (TimeWindow.marker).
_WINDOW = {"spark.timeWindow": True}


def tagged(frame: DataFrame, step: TagView) -> DataFrame:
    """Return a DataFrame in which a column is event time to Spark, and a window of its own if the step says so."""
    from pyspark.sql import functions

    metadata = {**_EVENT_TIME, **(_WINDOW if step.window else {})}
    marked = functions.col(identifier(step.column)).alias(step.column, metadata=metadata)
    # All columns, as Spark Connect's withColumns takes metadata away.
    return frame.select(*(marked if name == step.column else functions.col(identifier(name)) for name in frame.columns))
