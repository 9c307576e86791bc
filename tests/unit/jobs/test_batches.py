"""How micro-batches are written: none waits for what Spark reports of the one before."""

from __future__ import annotations

import threading
from typing import cast

from pyspark.sql import DataFrame
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from sqlext.jobs.batches import BatchWriter
from sqlext.jobs.progress import Progress
from sqlext.jobs.query import Query
from sqlext.sinks.base import Sink
from tests.unit.jobs.test_progress import report

_SECONDS = 60


class Numbers(Sink):
    """Keeps the numbers of batches."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    def write(self, df: DataFrame, batch_id: int) -> None:
        self.taken.append(batch_id)


class Slow:
    """A query of Spark's whose report does not come before it may."""

    def __init__(self) -> None:
        self.asked, self.may = threading.Event(), threading.Event()

    @property
    def lastProgress(self) -> StreamingQueryProgress:  # noqa: N802 - Spark's name
        self.asked.set()
        assert self.may.wait(_SECONDS)
        return report(0, 5)

    @property
    def recentProgress(self) -> list[StreamingQueryProgress]:  # noqa: N802 - Spark's name
        return [self.lastProgress]


class Told(Progress):
    """Says when it was told of a micro-batch."""

    def __init__(self) -> None:
        super().__init__()
        self.told = threading.Event()

    def add(self, reports: object) -> None:
        super().add(reports)  # type: ignore[arg-type]
        self.told.set()


def test_a_batch_does_not_wait_for_the_report_of_the_one_before() -> None:
    sink, slow, progress = Numbers(), Slow(), Told()
    query = Query("q", {"a": progress}, streaming=True, bounded=False)
    query.follow({"a": cast(StreamingQuery, slow)})
    writer = BatchWriter(sink, "a", query, [])
    writer.expect(repeated=False)
    rows = cast(DataFrame, None)
    writer(rows, 0)
    # Of a batch before the first one there is no report.
    assert not slow.asked.is_set()
    writer(rows, 1)
    assert slow.asked.wait(_SECONDS)
    assert sink.taken == [0, 1]
    slow.may.set()
    assert progress.told.wait(_SECONDS)
    assert query.counted("a")["rows_in"] == 5
    query.release()
