"""Define the query that a user holds: its progress, how to stop it, why it failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sqlext.errors import SqlExtError, shown_cause
from sqlext.jobs.progress import InputsRead, Progress, joined
from sqlext.source import Span
from sqlext.spark.quiet import quiet

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

    from sqlext.jobs.progress import DoneBatch, MicroBatch
    from sqlext.jobs.recording import Recorder
    from sqlext.watermarks.history import Sample
    from sqlext.watermarks.report import TimeReport

_SECONDS_TO_STOP = 60
#: Looks of a time keeper after which it has seen what was done before, and Spark what the keeper wrote.
_LOOKS = 2


class RunningStream(Protocol):
    """What a query asks of a stream that runs: one of Spark's, or one of this process."""

    @property
    def lastProgress(self) -> StreamingQueryProgress | None:  # noqa: N802 - Spark's name
        """Spark's report of the last micro-batch; None where there is none."""

    @property
    def recentProgress(self) -> list[StreamingQueryProgress]:  # noqa: N802
        """Spark's reports of the last hundred."""

    def processAllAvailable(self) -> None:  # noqa: N802
        """Wait until it has worked off what its sources have now."""

    def stop(self) -> None:
        """Stop it."""


class Keeping(Protocol):
    """What a query asks of whoever keeps its time."""

    @property
    def report(self) -> TimeReport:
        """What is known, for people."""

    @property
    def written(self) -> Mapping[str, Any] | None:
        """What it wrote last (``timekeeping.read_state``)."""

    def await_looks(self, more: int, alive: Callable[[], bool]) -> None:
        """Wait until it has looked so many times more, or nobody looks any more."""

    def settle(self, inputs: InputsRead) -> None:
        """Take what the micro-batches of a query that has ended have read."""


def _nothing() -> None:
    pass


class Query:
    """A running or ended query; several Spark queries where one job writes several sinks.

    Attributes:
        name: the query's name.
        streaming: whether it ran as a stream (a query over static tables alone does not).
        bounded: whether its input has an end.
        parts: names of the single queries, one a sink.
        timekeeping: who keeps their time, where their input has no end.
        recorders: who records how they go, where they have a place.

    Args:
        show: shows what its sinks have to show on the client.
    """

    def __init__(
        self,
        name: str,
        parts: Mapping[str, Progress],
        *,
        streaming: bool,
        bounded: bool,
        show: Callable[[], None] = _nothing,
    ) -> None:
        self.name = name
        self.parts = tuple(parts)
        self.streaming = streaming
        self.bounded = bounded
        self._progress = dict(parts)
        self._show = show
        self._running: dict[str, RunningStream] = {}
        self.timekeeping: Mapping[str, Keeping] = {}
        self.recorders: Mapping[str, Recorder] = {}
        self._error: SqlExtError | None = None
        self._refused: SqlExtError | None = None
        self._status = "running"
        self._stop_requested = threading.Event()
        self._ended = threading.Event()

    # What users call

    @property
    def exception(self) -> SqlExtError | None:
        """The SqlExtError with which it failed; None while it runs, and if it ended well."""
        return self._error

    @property
    def is_active(self) -> bool:
        """Whether it still runs."""
        return not self._ended.is_set()

    def stop(self) -> None:
        """Stop it, and wait until it has stopped, a minute at most. Its place is kept: the same statement goes on."""
        self.request_stop()
        self._ended.wait(_SECONDS_TO_STOP)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; return whether it has.

        Args:
            timeout: seconds, None to wait for ever.

        Raises:
            SqlExtError: why it failed.
        """
        ended = self._ended.wait(timeout)
        if ended and self._error is not None:
            raise self._error
        return ended

    def process_available(self) -> None:
        """Wait until it has worked off what its sources have now, and the heartbeats that follow from it.

        Raises:
            SqlExtError: why it failed.
        """
        done = None
        try:
            with quiet():
                while done != (done := self._process_all()):  # a heartbeat is worked off in a batch of its own
                    for keeping in self.timekeeping.values():
                        keeping.await_looks(_LOOKS, lambda: self.is_active)
            self._show()
        except Exception:
            self.await_termination(_SECONDS_TO_STOP)  # says why, in the user's terms
            raise

    @property
    def progress(self) -> dict[str, Any]:
        """Its progress since it was started, as a dict:

        ================ ================================================================
        ``batch``        micro-batches done; one that was stopped counts when it is done, after a restart
        ``rows_in``      rows read
        ``rows_out``     rows written
        ``watermark``    milliseconds since 1970 UTC, or None
        ``state_rows``   groups and windows open now
        ``state_bytes``  memory that Spark's state stores use now, in bytes
        ``rows_late``    late rows that a late table has taken (LATE DATA TO)
        ``rows_dropped`` late rows that nobody kept, and rows for a group that ONCE had closed;
                         Spark's own operators count groups after partial aggregation
        ``rows_bad``     rows that a source could not decode, dropped or kept (``sqlext.bad-rows``)
        ``dead_letters`` rows that the table of dead letters has taken (``sqlext.dead-letters.table``)
        ``busy_ms``      milliseconds within micro-batches
        ``last_rows``    rows that the last micro-batch has read
        ``last_ms``      milliseconds that it took
        ``status``       running, finished, stopped or failed
        ``streaming``    whether it runs as a stream
        ``inputs``       a dict for each split of each input, where the input has no end
                         (``watermarks.report.TimeReport.rows``)
        ``parts``        the same of each single query by its name, where there are several
        ================ ================================================================
        """
        if self.is_active:
            self.collect()
        common = {"status": self._status, "streaming": self.streaming}
        parts = {name: {**self.counted(name), "inputs": self._inputs_of(name)} for name in self.parts}
        several = {"parts": {name: {**values, **common} for name, values in parts.items()}} if len(parts) > 1 else {}
        return {**joined(parts), **common, **several}

    def time_report(self, name: str) -> TimeReport | None:
        """Return what is known of the time of a part; None where its input has an end or no watermark."""
        keeping = self.timekeeping.get(name)
        return keeping.report if keeping is not None else None

    def time_samples(self, name: str) -> Sequence[Sample]:
        """Return how a part went, oldest first; nothing where nobody records it."""
        recorder = self.recorders.get(name)
        return recorder.history.samples() if recorder is not None else []

    def _process_all(self) -> int:
        """Work off what sources have; return how many batches were done since the start."""
        for query in tuple(self._running.values()):
            query.processAllAvailable()
        self.collect()
        return sum(p.values()["batch"] for p in self._progress.values())

    def _inputs_of(self, name: str) -> list[dict[str, Any]]:
        report = self.time_report(name)
        return list(report.rows()) if report is not None else []

    def wait_for_end(self, timeout: float) -> bool:
        """Wait until it has ended, well or not, ``timeout`` seconds at most; return whether it has."""
        return self._ended.wait(timeout)

    @property
    def moments(self) -> dict[str, list[MicroBatch]]:
        """Its last thousand micro-batches (``MicroBatch``), oldest first, by the name of the single query."""
        if self.is_active:
            self.collect()
        return {name: p.moments() for name, p in self._progress.items()}

    # What the job calls

    @property
    def stop_requested(self) -> bool:
        """Whether it was told to stop."""
        return self._stop_requested.is_set()

    def wait_for_stop(self, timeout: float) -> bool:
        """Wait until it is told to stop; return whether it was. Seconds."""
        return self._stop_requested.wait(timeout)

    @property
    def running(self) -> Mapping[str, RunningStream]:
        """Its streams, by the name of their part."""
        return self._running

    def follow(self, running: Mapping[str, RunningStream]) -> None:
        """Watch these streams from now on, by the name of their part."""
        self._running = dict(running)
        # ``stop`` may have come while these were starting, when it could not see them.
        if self.stop_requested:
            self._stop_running()

    def collect(self) -> None:
        """Take what Spark reports."""
        for name, query in tuple(self._running.items()):
            self._progress[name].add(query.recentProgress)

    def collect_last(self, name: str) -> None:
        """Take what Spark reports of the batch before, and of others if they were missed: cheap where none was."""
        query = self._running.get(name)
        report = query.lastProgress if query is not None else None
        if query is not None and report is not None:
            progress = self._progress[name]
            progress.add([report] if progress.is_next(report) else query.recentProgress)

    def record(self, name: str) -> None:
        """Record how a part goes now."""
        recorder = self.recorders.get(name)
        if recorder is not None:
            self.collect_last(name)
            recorder.look(self._progress[name], self.time_report(name))

    def is_to_stop(self, name: str) -> bool:
        """Whether somebody in another process wants a part to stop."""
        recorder = self.recorders.get(name)
        return recorder is not None and recorder.is_to_stop()

    def request_stop(self) -> None:
        """Stop it, and do not wait."""
        # Before Spark's queries are stopped: the job's thread would else take their interruption for a failure.
        self._stop_requested.set()
        self._stop_running()

    def did(self, name: str, batch: DoneBatch) -> None:
        """Count a micro-batch that a part has done in this process."""
        self._progress[name].done(batch)

    def inputs(self, name: str) -> InputsRead:
        """Return what the micro-batches of a part that are done have read."""
        return self._progress[name].read()

    def counted(self, name: str) -> dict[str, Any]:
        """Return what was counted of a part: ``progress`` without what all parts share."""
        return self._progress[name].values()

    def await_end(self, timeout: float) -> bool:
        """Wait until it has ended, well or not; return whether it has. Seconds."""
        return self._ended.wait(timeout)

    def wrote(self, name: str, rows: int, read: int = 0) -> None:
        """Count rows that a part wrote outside of a stream, and those that it read for them."""
        self._progress[name].wrote(rows, read)

    def refused(self, name: str, rows: int) -> None:
        """Count rows of a part that its sink refused: they are dead letters, and none of those that came out."""
        if rows:
            self._progress[name].refused(rows)

    def refuse(self, error: SqlExtError) -> None:
        """Stop it because it may not go on: it has failed then."""
        self._refused = error
        self.stop()

    def settle(self, error: SqlExtError | None) -> None:
        """Keep how it ended; those who wait for it go on only when it is released."""
        error = error or self._refused
        self.judge(error)
        for name, keeping in self.timekeeping.items():
            keeping.settle(self.inputs(name))
        for name, recorder in self.recorders.items():
            recorder.look(self._progress[name], self.time_report(name))
            recorder.end(error)

    def judge(self, error: SqlExtError | None) -> None:
        """Know how it ended."""
        if error is not None and error.__cause__ is not None:
            error.__cause__ = shown_cause(error.__cause__)
        self._error = error
        endless = self.streaming and not self.bounded
        stopped = "stopped" if self.stop_requested or endless else "finished"
        self._status = stopped if error is None else "failed"

    def release(self) -> None:
        """Let those go on who wait for its end: all that it leaves is in place.

        Spark's queries are let go: they hold the functions that Python gave them, which hold this query; such a circle
        through two heaps is never collected, and would keep a Spark session for every job.
        """
        self._running = {}
        self._show = _nothing
        self._ended.set()

    def _stop_running(self) -> None:
        for query in tuple(self._running.values()):
            query.stop()


class JobLog:
    """Told when a job starts and when it has ended. Does nothing."""

    def started(self) -> None:
        """Its queries are ready; none has begun."""

    def ended(self, query: Query) -> None:
        """It has ended, well or not; called in the job's own thread, before anyone who waits for it goes on."""


def _behind_the_end(error: SqlExtError) -> SqlExtError:
    """Return the failure of the end of a job whose rows are all written."""
    said = f"{error.message}. The job itself has come to its end, and its rows are written"
    made = SqlExtError(
        error.code, said, span=error.span, hint="another run of what has come to its end writes the rows again"
    )
    made.__cause__ = error.__cause__
    return made


def end_job(
    query: Query, log: JobLog, closes: Iterable[Callable[[], None]], error: SqlExtError | None, span: Span
) -> SqlExtError | None:
    """Leave everything in place, and only then let those go on who wait.

    A disk that is full or a store that is away may fail each step. The others are done all the same: nobody may wait
    for a job for ever.

    Args:
        query: the job's.
        log: is told.
        closes: give the places of its parts free.
        error: why it failed.
        span: of its statement.

    Returns:
        Why it failed, or the first failure of its end; None if all went well.
    """
    try:
        for step in (lambda: query.settle(error), lambda: log.ended(query), *closes):
            try:
                step()
            except Exception as failure:  # noqa: BLE001 - the first one is what its caller has to know
                from sqlext.spark.failures import run_error  # not before: it reads files with pyarrow

                made = run_error(failure, span)
                query.judge(query.exception or (made if error is not None else _behind_the_end(made)))
    finally:
        # Last: whoever waits may start the same query at once and needs the folder's lock.
        query.release()
    return query.exception
