"""Jobs: one query into one sink or several, from the first micro-batch to the end of the input."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError
from sqlext.execution.checkpoint import QueryHome, Run
from sqlext.execution.query import ROWS_OUT, Query
from sqlext.execution.sinks import Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery


@dataclass(frozen=True)
class Part:
    """One query of a job, ready to start: its rows and the sink that takes them.

    Attributes:
        make: opens the sources and returns the rows; called anew for each life of the Spark query.
        closing: whether the heartbeat must wait until the data is through (sources that come in several batches).
    """

    name: str
    make: Callable[[], DataFrame]
    sink: Sink
    updating: bool
    home: QueryHome | None = None
    run: Run | None = None
    heartbeat: bool = False
    closing: bool = False


@dataclass(frozen=True)
class Schedule:
    """When micro-batches run: ``bounded`` takes what is there and ends; ``interval`` in ms between batches."""

    bounded: bool
    finish: bool = True
    interval: int | None = None


class Job:
    """Runs the parts of a statement together; the rest of its life is in a thread of its own."""

    def __init__(
        self,
        spark: SparkSession,
        query: Query,
        parts: Sequence[Part],
        schedule: Schedule,
        settings: Callable[[], AbstractContextManager[None]],
        ended: Callable[[Query], None],
    ) -> None:
        self.spark = spark
        self.query = query
        self.query.parts = tuple(p.name for p in parts)
        self.parts = parts
        self.schedule = schedule
        self._settings = settings
        self._ended = ended

    def start(self) -> None:
        """Start the job and return; what is wrong with the queries themselves is raised here.

        Raises:
            SqlExtError: what Spark or a sink refuses before the first row.
        """
        try:
            self._start_all()
        except BaseException:
            self._release()
            raise
        threading.Thread(target=self._follow, name=f"sqlext {self.query.name}", daemon=True).start()

    def _start_all(self) -> None:
        if self.schedule.bounded and self.schedule.finish:
            for part in self.parts:
                if part.heartbeat and not part.closing and part.home is not None:
                    part.home.write_heartbeat()
        with self._settings():
            started = []
            try:
                for part in self.parts:
                    if part.home is None:
                        self._run_batch(part)
                    else:
                        started.append(self._start(part))
            except BaseException:
                for query in started:
                    query.stop()
                raise
            self.query.follow(started)

    def _run_batch(self, part: Part) -> None:
        """Write a query over static tables alone: one batch, now."""
        from pyspark.sql import Observation, functions

        counted = Observation(ROWS_OUT)
        part.sink.write(part.make().observe(counted, functions.count(functions.lit(1)).alias("n")), 0)
        part.sink.finish(self.spark)
        self.query.wrote(int(counted.get["n"]))

    def _start(self, part: Part) -> StreamingQuery:
        from pyspark.sql import functions

        rows = part.make().observe(ROWS_OUT, functions.count(functions.lit(1)).alias("n"))
        writer = rows.writeStream.outputMode("update" if part.updating else "append").queryName(part.name)
        if part.home is not None:
            writer = writer.option("checkpointLocation", part.home.checkpoint)
        if self.schedule.bounded:
            writer = writer.trigger(availableNow=True)
        elif self.schedule.interval is not None:
            writer = writer.trigger(processingTime=f"{self.schedule.interval} milliseconds")
        return writer.foreachBatch(part.sink.write).start()

    def _follow(self) -> None:
        error: SqlExtError | None = None
        try:
            if self.query.wait_for_spark() and self.schedule.bounded and self.schedule.finish:
                self._finish()
        except SqlExtError as failure:
            error = failure
        except BaseException as failure:  # noqa: BLE001 - whatever it is must reach the caller, not die with the thread
            error = SqlExtError("RUN-100", str(failure))
        finally:
            self._release()
            self.query.end(error)
            self._ended(self.query)

    def _finish(self) -> None:
        """Bring the watermark to the end of time where that had to wait, and the sinks to their end."""
        waiting = [p for p in self.parts if p.heartbeat and p.closing and p.home is not None]
        for part in waiting:
            assert part.home is not None
            part.home.write_heartbeat()
        if waiting:
            with self._settings():
                self.query.follow([self._start(p) for p in waiting])
            if not self.query.wait_for_spark():
                return
        for part in self.parts:
            if part.home is None:
                continue
            part.sink.finish(self.spark)
            if part.run is not None:
                part.home.finish(part.run)

    def _release(self) -> None:
        for part in self.parts:
            if part.home is not None:
                part.home.close()
