"""How a query went: of each micro-batch the moment, the watermark, and what came in and out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

#: Micro-batches remembered of a query; an older one goes when a newer one comes.
MOST = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """A micro-batch; times in ms since 1970 UTC.

    Attributes:
        at: when it began.
        watermark: the query's in this batch, None before the first.
        newest: the largest event time that came, None if none did.
    """

    at: int
    batch: int
    watermark: int | None
    newest: int | None
    rows_in: int
    rows_out: int


def moment_of(report: StreamingQueryProgress, rows_in: int, rows_out: int) -> MicroBatch:
    """Return the micro-batch that Spark reports."""
    times = report.eventTime
    at = instant_millis(report.timestamp)
    watermark, newest = (instant_millis(times[k]) if times.get(k) else None for k in ("watermark", "max"))
    return MicroBatch(at, report.batchId, watermark or None, newest or None, rows_in, rows_out)


def instant_millis(text: str) -> int:
    """Return an instant as Spark writes it (``2024-01-01T00:00:00.000Z``) in ms since 1970 UTC."""
    since = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
