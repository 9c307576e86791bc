"""Serve running queries as Prometheus metrics: ``sqlext run --metrics PORT``, or ``serve(session, PORT)``.

Names follow Prometheus's conventions: base units (seconds since 1970 UTC for times), ``_total`` for what only grows.
A query that has ended is no longer reported; Prometheus sees its metrics go stale.

sqlext_query_rows_read_total, _rows_written_total, _rows_late_total (kept in a late table), _rows_dropped_total,
_rows_bad_total (could not be decoded), _dead_letters_total
sqlext_query_batch_duration_seconds_count, _sum     micro-batches done, and the time within them
sqlext_query_state_rows, sqlext_query_state_bytes   windows and groups open, and the memory of state stores
sqlext_query_watermark_timestamp_seconds, _watermark_lag_seconds (behind the clock)
sqlext_input_rows_total, sqlext_input_event_timestamp_seconds (the largest event time)
sqlext_input_watermark_timestamp_seconds, sqlext_input_watermark_lag_seconds
sqlext_input_idle, sqlext_input_held, sqlext_input_holds_back     1 or 0

Labels: ``query``; of an input also ``input`` and ``split`` (empty where it is not taken apart).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError
from sqlext.extras import package
from sqlext.watermarks.inputs import END_OF_TIME

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from sqlext.jobs.query import Query
    from sqlext.session.api import Session

_QUERY = ("query",)
_INPUT = ("query", "input", "split")
#: Key of a query's progress -> name and what it says.
_COUNTERS = {
    "rows_in": ("rows_read", "Rows that a query has read."),
    "rows_out": ("rows_written", "Rows that a query has given out: panes that fired."),
    "rows_late": ("rows_late", "Rows that came too late and were kept in a late table."),
    "rows_dropped": ("rows_dropped", "Rows that came too late and that nobody kept."),
    "rows_bad": ("rows_bad", "Rows that a source could not decode, dropped or kept."),
    "dead_letters": ("dead_letters", "Rows that the table of dead letters has taken."),
}
#: Key of an input's progress -> name and what it says.
_FLAGS = {
    "idle_since": ("idle", "Whether an input is idle: it holds nobody back."),
    "held": ("held", "Whether alignment holds an input back."),
    "holds": ("holds_back", "Whether an input holds the watermark of its query back."),
}


@dataclass(frozen=True)
class Metrics:
    """A collector of ``prometheus_client``: asks the queries when it is asked.

    Attributes:
        queries: gives those that run now.
        clock: seconds since 1970 UTC.
    """

    queries: Callable[[], Sequence[Query]]
    clock: Callable[[], float] = field(default=time.time)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        parts = {name: progress for query in self.queries() for name, progress in _parts(query)}
        yield from self._of_queries(parts)
        rows = [((name, r["input"], r["split"] or ""), r) for name, p in parts.items() for r in p["inputs"]]
        yield from self._of_inputs(rows)

    def _of_queries(self, parts: Mapping[str, Mapping[str, Any]]) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily

        for key, (name, text) in _COUNTERS.items():
            # The library puts _total behind a counter's name.
            counter = CounterMetricFamily(f"sqlext_query_{name}", text, labels=_QUERY)
            for query, progress in parts.items():
                counter.add_metric((query,), progress[key])
            yield counter
        batches = SummaryMetricFamily("sqlext_query_batch_duration_seconds", "Micro-batches.", labels=_QUERY)
        state = GaugeMetricFamily("sqlext_query_state_rows", "Windows and groups open.", labels=_QUERY)
        memory = GaugeMetricFamily("sqlext_query_state_bytes", "Memory of state stores.", labels=_QUERY)
        for query, progress in parts.items():
            batches.add_metric((query,), progress["batch"], progress["busy_ms"] / 1000)
            state.add_metric((query,), progress["state_rows"])
            memory.add_metric((query,), progress["state_bytes"])
        yield from (batches, state, memory)
        yield from self._times("sqlext_query_watermark", _QUERY, [((q,), p["watermark"]) for q, p in parts.items()])

    def _of_inputs(self, rows: list[tuple[tuple[str, str, str], Mapping[str, Any]]]) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        counter = CounterMetricFamily("sqlext_input_rows", "Rows that an input has given.", labels=_INPUT)
        event = GaugeMetricFamily("sqlext_input_event_timestamp_seconds", "Largest event time.", labels=_INPUT)
        for labels, row in rows:
            counter.add_metric(labels, row["rows"])
            if row["largest"] is not None:
                event.add_metric(labels, row["largest"] / 1000)
        yield from (counter, event)
        for key, (name, text) in _FLAGS.items():
            flag = GaugeMetricFamily(f"sqlext_input_{name}", text, labels=_INPUT)
            for labels, row in rows:
                flag.add_metric(labels, int(row[key] is not None and row[key] is not False))
            yield flag
        yield from self._times("sqlext_input_watermark", _INPUT, [(labels, r["watermark"]) for labels, r in rows])

    def _times(
        self, name: str, labels: Sequence[str], known: list[tuple[tuple[str, ...], int | None]]
    ) -> Iterator[Metric]:
        """Yield watermarks and how far they are behind the clock; not the end of time, which is behind nothing."""
        from prometheus_client.core import GaugeMetricFamily

        reached = GaugeMetricFamily(f"{name}_timestamp_seconds", "The watermark.", labels=labels)
        lag = GaugeMetricFamily(f"{name}_lag_seconds", "How far it is behind the clock.", labels=labels)
        now = self.clock()
        for of, watermark in known:
            if watermark is not None and watermark < END_OF_TIME:
                reached.add_metric(of, watermark / 1000)
                lag.add_metric(of, now - watermark / 1000)
        yield from (reached, lag)


class MetricsServer:
    """An HTTP server of a session's metrics.

    Attributes:
        port: where it listens.
    """

    def __init__(self, session: Session, port: int, address: str) -> None:
        package("prometheus_client", "metrics", "a server of metrics")
        from prometheus_client import CollectorRegistry, start_http_server

        # With auto_describe, registering would ask all queries at once.
        registry = CollectorRegistry(auto_describe=False)
        registry.register(Metrics(lambda: session.queries))
        try:
            self._server, self._thread = start_http_server(port, address, registry)
        except (OSError, OverflowError) as error:
            hint = "give another port; 0 takes one that is free"
            raise SqlExtError("ENV-012", f"metrics cannot be served at {address}:{port}: {error}", hint=hint) from error
        self.port = self._server.server_port

    def close(self) -> None:
        """Stop to serve; a second time does nothing."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> MetricsServer:
        """Return itself; leaving the block stops it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop to serve."""
        self.close()


def serve(session: Session, port: int, address: str = "127.0.0.1") -> MetricsServer:
    """Serve the metrics of a session's queries at ``http://address:port/metrics``, until it is closed.

    Args:
        port: 0 takes one that is free.
        address: who can ask: by default this machine alone, ``0.0.0.0`` for everybody.

    Raises:
        SqlExtError: ENV-011 if the package is missing, ENV-012 if it cannot listen there.
    """
    return MetricsServer(session, port, address)


def _parts(query: Query) -> Iterator[tuple[str, Mapping[str, Any]]]:
    progress = query.progress
    parts: Mapping[str, Mapping[str, Any]] = progress.get("parts") or {query.parts[0]: progress}
    yield from parts.items()
