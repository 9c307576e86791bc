"""Start a job and follow its queries to the end.

A job runs one query into one sink or several, in a thread of its own, from the first micro-batch to the end of the
input. A second thread looks after the time of its inputs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, cast

from sqlext.errors import SqlExtError
from sqlext.jobs.batches import BatchWriter, WholeWriter
from sqlext.jobs.parts import JobPart, Place, Schedule
from sqlext.jobs.progress import Progress, begins_anew
from sqlext.jobs.query import JobLog, Query, end_job
from sqlext.jobs.recording import Recorder
from sqlext.jobs.timekeeping import LOOK_SECONDS, Timekeeping
from sqlext.plan.timing import InputEnd
from sqlext.spark.failures import DAMAGED, UNFORESEEN, run_error, was_cancelled
from sqlext.spark.observed import ROWS_OUT
from sqlext.spark.quiet import quiet
from sqlext.spark.real_time import require_slots
from sqlext.spark.sessions import inheriting, patiently

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

#: How long a cancelled Spark job waits for the stop() that will say why: Ctrl-C cancels jobs first.
_SECONDS_UNTIL_STOP = 3.0
#: How often sinks are asked what they have to show.
_SECONDS_BETWEEN_LOOKS = 1
#: How often a query is started again whose Python processes did not start in time, and how Spark says so.
_TRIES, _NO_WORKER = 3, "Python worker failed to connect back"


class Job:
    """Runs the parts of a statement together; after the start its life is in a thread of its own.

    Args:
        settings: gives the Spark settings that queries are started under.
        closes: give free what it uses, when it has ended.
    """

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        parts: Sequence[JobPart],
        schedule: Schedule,
        settings: Callable[[], AbstractContextManager[None]],
        log: JobLog,
        closes: Sequence[Callable[[], None]] = (),
    ) -> None:
        self.spark = spark
        self.parts = parts
        self.schedule = schedule
        streaming = any(p.place is not None for p in parts)
        counted = {p.name: Progress(p.own_sources) for p in parts}
        self.query = Query(name, counted, streaming=streaming, bounded=schedule.bounded, show=self._show)
        self.query.recorders = {
            p.name: Recorder(p.name, p.place.home.progress, schedule.bounded, p.steps)
            for p in parts
            if p.place is not None and not p.complete
        }
        self._settings = settings
        self._restarts = threading.Lock()
        self._noted: set[str] = set()
        self._log = log
        self._closes = closes
        locks = {target: threading.Lock() for p in parts for target in p.targets}
        # In one order for all: two parts with the same targets would else wait for each other for ever.
        self._writers = {p.name: self._writer(p, [locks[t] for t in sorted(set(p.targets))]) for p in parts}

    def _writer(self, part: JobPart, locks: Sequence[threading.Lock]) -> BatchWriter:
        if part.whole is None:
            return BatchWriter(part.sink, part.name, self.query, locks)
        return WholeWriter(part.sink, part.name, self.query, locks, part.whole, self._settings, part.other)

    def start(self) -> Query:
        """Start the job and return its query; what is wrong with the queries themselves is raised here.

        Raises:
            SqlExtError: what Spark or a sink refuses before the first row; RUN-... of a query without a stream.
        """
        try:
            # Only now is ``run.json`` written: plans and sinks are accepted, so a refused statement leaves no trace.
            self._begin()
            self._log.started()
            with self._settings(), quiet():
                self._start_all()
        # KeyboardInterrupt too: the folders must be given free before it goes on.
        except BaseException as error:
            failure = error if isinstance(error, SqlExtError) else run_error(error, self.parts[0].span)
            self._end(failure)
            if isinstance(error, Exception):
                raise failure from failure.__cause__
            raise
        _keep_time(self.query, {p.name: p.timekeeping for p in self.parts if p.timekeeping is not None})
        # A daemon: a process that ends does not wait for an endless query.
        threading.Thread(target=self._live, name=f"sqlext {self.query.name}", daemon=True).start()
        return self.query

    @property
    def _running(self) -> Mapping[str, StreamingQuery]:
        return _of_spark(self.query)

    # Before the first batch

    def _begin(self) -> None:
        for part in self.parts:
            if part.place is not None and not part.complete:
                part.place.home.begin(part.place.run)
                self.query.recorders[part.name].begin()
                if part.timekeeping is not None:
                    part.timekeeping.begin()
                if part.ticks:
                    part.place.home.write_first_tick()
                if part.ticks == "clock" and self.schedule.end is InputEnd.CATCH_UP:
                    part.place.home.write_tick()
                if self.schedule.bounded and part.heartbeat and not part.closes_late:
                    part.place.home.write_heartbeat()

    def _start_all(self) -> None:
        """Start the streams and write what is no stream."""
        started: dict[str, StreamingQuery] = {}
        self.query.follow(started)
        try:
            self._start_streams(started)
            for part in self.parts:
                if not part.streaming and not part.complete:
                    self._write_at_once(part)
        except BaseException:
            for query in started.values():
                query.stop()
            raise
        self.query.follow(started)

    def _start_streams(self, started: dict[str, StreamingQuery]) -> None:
        """Start the streams side by side: each waits until Spark has cloned the session, and no batch begins before."""
        streams = [part for part in self.parts if part.streaming and not part.complete]
        # What is asked of the session is asked in this thread, which holds its settings.
        ready = [(part, self._ready(part)) for part in streams]

        def start(of: tuple[JobPart, Callable[[], StreamingQuery]]) -> None:
            part, begin = of
            started[part.name] = _started(part, begin)

        if len(ready) == 1:
            start(ready[0])
        elif ready:
            with ThreadPoolExecutor(len(ready), "sqlext start") as pool:
                ends = [pool.submit(inheriting(self.spark, start), of) for of in ready]
            for end in ends:
                end.result()

    def _start(self, part: JobPart) -> StreamingQuery:
        return _started(part, self._ready(part))

    def _ready(self, part: JobPart) -> Callable[[], StreamingQuery]:
        """Return what starts a stream."""
        assert part.place is not None
        # A deployment fills tables by a query that ends, whatever the query does then.
        if part.real_time is not None and not self.schedule.bounded:
            return _in_real_time(part, part.place, part.real_time)
        writer = _counted(part).writeStream.outputMode(part.output_mode)
        writer = writer.queryName(part.name).option("checkpointLocation", part.place.home.checkpoint)
        # Asked before the start: Spark writes the next offsets as soon as it runs.
        self._writers[part.name].expect(repeated=part.place.home.repeats_a_batch())
        if self.schedule.planned:
            writer = writer.trigger(once=True)
        elif self.schedule.bounded:
            writer = writer.trigger(availableNow=True)
        elif self.schedule.interval is not None:
            writer = writer.trigger(processingTime=f"{self.schedule.interval} milliseconds")
        return writer.foreachBatch(self._writers[part.name]).start

    def _write_at_once(self, part: JobPart) -> None:
        """Write a query over static tables alone: one batch, now."""
        try:
            written = _write_again(part) if part.place is not None else _write_once(part)
            part.sink.finish(self.spark)
        except Exception as error:
            raise run_error(error, part.span, part.tables) from error
        self.query.wrote(part.name, written)
        if part.place is not None:
            part.place.home.finish(part.place.run)

    # Its life, in its own thread

    def _live(self) -> None:
        error: SqlExtError | None = None
        try:
            self._run_to_the_end()
        except BaseException as failure:  # noqa: BLE001 - whatever it is must reach the caller, not die with the thread
            error = run_error(failure, self.parts[0].span)
        self._end(error)

    def _run_to_the_end(self) -> None:
        """Wait for the data, then for what the end of time brings; then the sinks come to their end."""
        if not self._wait([p for p in self.parts if p.streaming and not p.complete]) or not self.schedule.bounded:
            return
        closing = [p for p in self.parts if self._must_close(p)]
        if closing and not self._close(closing):
            return
        # All sinks end before the first query is marked as finished: a job killed in between ends its sinks again.
        active = [p for p in self.parts if p.streaming and not p.complete]
        for part in active:
            part.sink.finish(self.spark)
        for part in active:
            if self.schedule.finish and part.place is not None:
                part.place.home.finish(part.place.run)

    def _must_close(self, part: JobPart) -> bool:
        return not part.complete and ((part.heartbeat and part.closes_late) or (part.ends and self.schedule.finish))

    def _close(self, parts: list[JobPart]) -> bool:
        """Bring the watermark to the end of time, now that the data is through; tell those that have none."""
        for part in parts:
            assert part.place is not None
            if part.heartbeat:
                part.place.home.write_heartbeat()
            if part.ends:
                part.place.home.write_last_tick()
        with self._settings(), quiet():
            self.query.follow({p.name: self._start(p) for p in parts})
        return self._wait(parts)

    def _wait(self, parts: list[JobPart]) -> bool:
        """Wait for Spark queries; return whether they ended by themselves. One that fails stops the others.

        Raises:
            SqlExtError: why the first of them failed.
        """
        # A thread for each: whoever waits for one query would not see that another one fails.
        with ThreadPoolExecutor(max(1, len(parts)), "sqlext wait") as pool:
            ends = {p.name: pool.submit(self._await, p) for p in parts}
            wait(ends.values(), return_when=FIRST_EXCEPTION)
            failure = self._first_failure(parts, ends)
            if failure is not None:
                for query in self._running.values():
                    query.stop()
        for part in parts:
            # Spark's ``stop`` leaves the Python function running, and the next driver must not meet its writes.
            self._writers[part.name].wait_until_idle()
        self._show()
        self.query.collect()
        if failure is not None and not self.query.stop_requested:
            raise failure
        return not self.query.stop_requested

    def _await(self, part: JobPart) -> None:
        """Wait until a Spark query has ended; one whose Python did not start in time is started again.

        Spark gives the processes of Python sources and operators ten seconds: too few on a machine that is busy.
        """
        for _ in range(_TRIES):
            try:
                self._follow(part)
            except Exception as error:
                if _NO_WORKER not in str(error) or self.query.stop_requested:
                    raise
            else:
                return
            # One at a time: each reads the map of running queries and puts a changed one in its place.
            with self._restarts, self._settings(), quiet():
                self.query.follow({**self._running, part.name: self._start(part)})
        self._follow(part)

    def _follow(self, part: JobPart) -> None:
        """Show what a part has to show until its Spark query has ended."""
        query = self._running[part.name]
        with quiet():
            while not query.awaitTermination(_SECONDS_BETWEEN_LOOKS):
                if part.place is not None:
                    part.place.home.refuse_if_lost()
                part.sink.show(self.spark)
                self.query.record(part.name)
                if part.real_time is not None:
                    require_slots(self.spark, self._running.values())
                if self.query.is_to_stop(part.name):
                    self.query.request_stop()
                self._note_sources(part, query)
            self._note_sources(part, query)
        # Spark ends a query in silence where another session goes on with its checkpoint.
        if part.place is not None and not self.query.stop_requested:
            part.place.home.fence.check()

    def _note_sources(self, part: JobPart, query: StreamingQuery) -> None:
        """Remember, once, which sources Spark counts: whoever goes on without the state must know."""
        if part.place is None or part.name in self._noted:
            return
        report = query.lastProgress
        if report is not None and report.sources:
            home, own = part.place.home, part.own_sources
            found = [n for n, s in enumerate(report.sources) if begins_anew(s.description, own, home.fed_back)]
            home.note_own_sources(found)
            self._noted.add(part.name)

    def _show(self) -> None:
        for part in self.parts:
            part.sink.show(self.spark)

    def _first_failure(self, parts: list[JobPart], ends: dict[str, Future[None]]) -> SqlExtError | None:
        for part in parts:
            end = ends[part.name]
            error = end.exception() if end.done() else None
            if error is not None:
                cause = self._writers[part.name].error or error
                if was_cancelled(cause):
                    self.query.wait_for_stop(_SECONDS_UNTIL_STOP)
                return _failure(cause, part)
        return None

    def _end(self, error: SqlExtError | None) -> None:
        closes = [part.place.home.close for part in self.parts if part.place is not None]
        end_job(self.query, self._log, [*self._closes, *closes], error, self.parts[0].span)


def _started(part: JobPart, begin: Callable[[], StreamingQuery]) -> StreamingQuery:
    try:
        return patiently(begin)
    except Exception as error:
        raise _failure(error, part) from error


def _in_real_time(part: JobPart, place: Place, batch: int) -> Callable[[], StreamingQuery]:
    """Return what starts a stream whose rows Spark hands to its own sink; ``batch``: ms until its place is noted."""
    stream = part.sink.stream(_counted(part))
    assert stream is not None  # or the statement was refused
    # The only mode that Spark takes here; without state it is the same as append.
    writer = stream.rows.writeStream.outputMode("update").queryName(part.name)
    writer = writer.option("checkpointLocation", place.home.checkpoint).format(stream.format).options(**stream.options)
    # PySpark's overloads leave it out.
    triggered: DataStreamWriter = writer.trigger(realTime=f"{batch} milliseconds")  # type: ignore[call-overload]
    return triggered.start


def _failure(error: BaseException, part: JobPart) -> SqlExtError:
    """Return a failure in the user's terms, and where nobody foresaw it, that of a damaged file of the checkpoint."""
    made = run_error(error, part.span, part.tables)
    if part.place is None or made.code != UNFORESEEN:
        return made
    damage = part.place.home.damage(made.message if made.hint == DAMAGED else None)
    if damage is None:
        return made
    damage = damage.at(part.span)
    damage.__cause__ = made.__cause__
    return damage


def _write_once(part: JobPart) -> int:
    """Write rows that no earlier run can have written; return how many."""
    from pyspark.sql import Observation, functions

    counted = Observation(ROWS_OUT)
    part.sink.write_new(part.rows.observe(counted, functions.count(functions.lit(1)).alias("n")), 0)
    return int(counted.get["n"])


def _write_again(part: JobPart) -> int:
    """Write rows that the sink may have already; return how many.

    Then nothing computes them, and an observation of them would be waited for without end.
    """
    rows = part.rows.persist()
    try:
        part.sink.write(rows, 0)
        return rows.count()
    finally:
        rows.unpersist()


def _counted(part: JobPart) -> DataFrame:
    from pyspark.sql import functions as f

    # Its stream is one row without meaning; ``WholeWriter`` counts what is written.
    if part.whole is not None:
        return part.rows
    beside = part.beside
    rows = f.count_if(f.isnull(beside.bad)) if beside.bad else f.count(f.lit(1))
    counts = [rows.alias("n")]
    if beside.late:
        late = f.count(beside.late)
        counts = [(rows - late).alias("n"), late.alias("late")]
    if beside.letters:
        counts.append(f.count_if(f.expr(" OR ".join(beside.letters))).alias("letters"))
    return part.rows.observe(ROWS_OUT, *counts)


def _keep_time(query: Query, keepers: Mapping[str, Timekeeping]) -> None:
    """Look after the queries of a job, by the names of their parts, in a thread of its own until the job has ended."""

    def live() -> None:
        while not query.await_end(LOOK_SECONDS):
            for name, keeping in keepers.items():
                running = _of_spark(query).get(name)
                if running is not None:
                    resting = not _works(running)  # before the counts: what it has done since is looked at next time
                    query.collect_last(name)
                    keeping.look(query.inputs(name), resting=resting)

    query.timekeeping = dict(keepers)
    if keepers:
        threading.Thread(target=live, name=f"sqlext time of {query.name}", daemon=True).start()


def _of_spark(query: Query) -> Mapping[str, StreamingQuery]:
    """Return the streams of a job of Spark's."""
    return cast("Mapping[str, StreamingQuery]", query.running)


def _works(running: StreamingQuery) -> bool:
    status = running.status
    # A trigger is active also while it asks sources that have nothing. Only both say that a micro-batch runs.
    return bool(status["isTriggerActive"] and status["isDataAvailable"])
