"""A query that was started: its name, how far it is, how it is stopped, why it failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.streaming.listener import StreamingQueryProgress

#: Name of the observation that counts the rows given to the sink.
ROWS_OUT = "sqlext_rows_out"


class Query:
    """A running or ended query; several Spark queries where one job writes several sinks.

    Attributes:
        name: the query's name.
        streaming: whether it ran as a stream (a query over static tables alone does not).
        bounded: whether its input has an end.
        parts: names of the single queries, one a sink.
    """

    parts: tuple[str, ...] = ()

    def __init__(self, name: str, *, streaming: bool, bounded: bool, explain: Callable[[BaseException], SqlExtError]) -> None:
        self.name = name
        self.streaming = streaming
        self.bounded = bounded
        self._explain = explain
        self._running: list[StreamingQuery] = []
        self._seen: dict[tuple[str, int], StreamingQueryProgress] = {}
        self._error: SqlExtError | None = None
        self._ended = threading.Event()
        self._stop_requested = False
        self._rows_out = 0

    # What users call

    @property
    def exception(self) -> SqlExtError | None:
        """Why it failed, None while it runs and if it ended well."""
        if self._error is None:
            for query in self._running:
                error = query.exception()
                if error is not None:
                    self._error = self._explain(error)
        return self._error

    @property
    def is_active(self) -> bool:
        """Whether it still runs."""
        return not self._ended.is_set()

    def stop(self) -> None:
        """Stop it after what it is doing; its place is kept."""
        self._stop_requested = True
        for query in self._running:
            query.stop()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; return whether it has.

        Args:
            timeout: seconds, None to wait for ever.

        Raises:
            SqlExtError: why it failed.
        """
        ended = self._ended.wait(timeout)
        if ended and self.exception is not None:
            raise self.exception
        return ended

    @property
    def progress(self) -> dict[str, Any]:
        """How far it is.

        ``batch``: micro-batches done; ``rows_in``, ``rows_out``; ``watermark``: ms since 1970 UTC or None;
        ``state_rows``: groups and windows open now; ``rows_dropped``: what Spark counts as too late (rows, or groups
        after partial aggregation); ``status``: running, finished, stopped, failed; ``streaming``.
        """
        self._collect()
        batches = list(self._seen.values())
        last = {run: p for (run, _), p in self._seen.items()}
        watermarks = [w for w in map(_watermark, last.values()) if w is not None]
        return {
            "batch": len(batches),
            "rows_in": sum(_rows_in(p) for p in batches),
            "rows_out": self._rows_out + sum(_rows_out(p) for p in batches),
            "watermark": min(watermarks) if watermarks else None,
            "state_rows": sum(op.numRowsTotal for p in last.values() for op in p.stateOperators),
            "rows_dropped": sum(op.numRowsDroppedByWatermark for p in batches for op in p.stateOperators),
            "status": self._status(),
            "streaming": self.streaming,
        }

    # What the runner calls

    def follow(self, queries: Sequence[StreamingQuery]) -> None:
        """Watch these Spark queries from now on."""
        self._running = list(queries)
        if self._stop_requested:
            self.stop()

    def wait_for_spark(self) -> bool:
        """Wait for the Spark queries; return whether they ended by themselves.

        Raises:
            SqlExtError: why one of them failed.
        """
        for query in self._running:
            try:
                query.awaitTermination()
            except Exception as error:
                self._error = self._explain(error)
                for other in self._running:
                    other.stop()
                raise self._error from error
            finally:
                self._collect()
        return not self._stop_requested

    def wrote(self, rows: int) -> None:
        """Add rows that were written outside of a stream."""
        self._rows_out += rows

    def end(self, error: SqlExtError | None = None) -> None:
        """Mark it as ended."""
        self._error = self._error or error
        self._collect()
        self._ended.set()

    def _collect(self) -> None:
        for query in self._running:
            for progress in query.recentProgress:
                self._seen[(str(progress.runId), progress.batchId)] = progress

    def _status(self) -> str:
        if not self._ended.is_set():
            return "running"
        if self._error is not None:
            return "failed"
        return "stopped" if self._stop_requested else "finished"


def _watermark(progress: StreamingQueryProgress) -> int | None:
    text = progress.eventTime.get("watermark")
    if not text or text.startswith("1970-01-01T00:00:00.000"):
        return None
    instant = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return int(instant.timestamp() * 1000)


def _rows_in(progress: StreamingQueryProgress) -> int:
    return sum(s.numInputRows for s in progress.sources if "/heartbeat" not in s.description)


def _rows_out(progress: StreamingQueryProgress) -> int:
    row = progress.observedMetrics.get(ROWS_OUT)
    return int(row["n"]) if row is not None and row["n"] is not None else 0
