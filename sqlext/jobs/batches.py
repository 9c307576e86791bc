"""Write micro-batches: ``foreachBatch`` calls a writer, which calls the sink and keeps why one failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from sqlext.sinks.base import Sink
from sqlext.spark.gone import has_gone
from sqlext.spark.quiet import ToldError, quiet
from sqlext.spark.reading.one_batch import Whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlext.jobs.query import Query
    from sqlext.sinks.files_where_read import FilesWhereMade
    from sqlext.sinks.small_results import SmallResult

#: How long a batch that was interrupted may go on until the next driver may have the checkpoint.
_SECONDS_TO_END = 60
#: How often the taker of reports looks whether its query has ended.
_SECONDS_BETWEEN_LOOKS = 1


class BatchFailedError(ToldError):
    """Tells Spark that a batch failed; the reason itself is kept in the writer."""


class _Reports:
    """Takes Spark's report of each micro-batch, in a thread of its own, while the next one is written.

    Spark keeps its last hundred reports, so those of many short batches would be lost if only users asked. A report has
    more than the 8 KB that py4j writes at once. The rest waits for an acknowledgement, which TCP delays by 40 ms.
    """

    def __init__(self, name: str, query: Query) -> None:
        self._name = name
        self._query = query
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Let the report of the batch before be taken soon, and others if they were missed."""
        self._wanted.set()
        if self._thread is None:
            # A daemon: a process that ends does not wait for an endless query.
            self._thread = threading.Thread(target=self._live, name=f"sqlext reports of {self._name}", daemon=True)
            self._thread.start()

    def _live(self) -> None:
        with quiet():
            while self._query.is_active:
                if self._wanted.wait(_SECONDS_BETWEEN_LOOKS):
                    self._wanted.clear()
                    try:
                        self._query.collect_last(self._name)
                    except Exception as error:
                        # The query itself says that its Spark is gone.
                        if has_gone(error):
                            return
                        raise


class BatchWriter:
    """Hands batches to a sink.

    Spark's ``stop`` interrupts a batch without waiting for the Python function, and two queries of a job may write
    to one table: a lock for each table keeps such writes apart. All take them in the same order.

    Attributes:
        error: what the sink raised, with its type and its cause: Spark would make one text of it.
    """

    def __init__(self, sink: Sink, name: str, query: Query, locks: Sequence[threading.Lock]) -> None:
        self.error: Exception | None = None
        self._sink = sink
        self._name = name
        self._query = query
        self._locks = tuple(locks)
        self._repeated = True
        self._reports = _Reports(name, query)
        self._begun = False

    def expect(self, *, repeated: bool) -> None:
        """Say, before the Spark query starts, whether its first batch may have been written before."""
        self._repeated, self.error = repeated, None

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Write a batch."""
        # Before the first batch there is no report.
        if self._begun:
            self._reports.ask()
        self._begun = True
        with ExitStack() as held, quiet():
            for lock in self._locks:
                held.enter_context(lock)
            try:
                before = self._sink.refused()
                self._write(df, batch_id, repeated=self._repeated)
                self._query.refused(self._name, self._sink.refused() - before)
                # Spark commits a batch before it begins the next: only the first one after a start can be a repetition.
                self._repeated = False
            except Exception as error:
                self.error = error
                raise BatchFailedError(str(error)) from error

    def _write(self, df: DataFrame, batch_id: int, *, repeated: bool) -> None:
        write_batch(self._sink, df, batch_id, repeated=repeated)

    def __reduce__(self) -> tuple[object, ...]:
        """Over Spark Connect batches are written in a process of the server: the sink alone goes there."""
        return ServerWriter, (self._sink, self._repeated)

    def wait_until_idle(self) -> None:
        """Wait for a batch that is still under way."""
        for lock in self._locks:
            if lock.acquire(timeout=_SECONDS_TO_END):
                lock.release()


class WholeWriter(BatchWriter):
    """Hands all rows of a query to a sink as the one batch of a stream that has nothing else to tell.

    Args:
        whole: opens the rows.
        settings: gives the Spark settings that they are planned under.
        other: writes them in another way than as rows of Spark, where that is possible.
    """

    def __init__(
        self,
        sink: Sink,
        name: str,
        query: Query,
        locks: Sequence[threading.Lock],
        whole: Callable[[], Whole],
        settings: Callable[[], AbstractContextManager[None]],
        other: SmallResult | FilesWhereMade | None = None,
    ) -> None:
        super().__init__(sink, name, query, locks)
        self._whole = whole
        self._settings = settings
        self._other = other

    def _write(self, df: DataFrame, batch_id: int, *, repeated: bool) -> None:
        if self._other is not None:
            found = self._other.written(batch_id, self._settings, repeated=repeated)
            if found is not None:
                self._query.wrote(self._name, *found)
                return
        # One thread at a time: views are one for the whole Spark session, as its settings are.
        with self._settings():
            whole = self._whole()
        if self._sink.single_pass and not repeated:
            self._sink.write_new(whole.rows, batch_id)
        else:
            # Observations tell of what was computed for itself, not of what a sink makes of it in several jobs.
            with _computed(whole.rows, self._settings()) as rows:
                (self._sink.write if repeated else self._sink.write_new)(rows, batch_id)
        self._query.wrote(self._name, whole.written(), whole.read())


class ServerWriter:
    """Takes the place of a ``BatchWriter`` in a Spark Connect server: one for each query, in a process of its own."""

    def __init__(self, sink: Sink, repeated: bool) -> None:
        self._sink = sink
        self._repeated = repeated

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Write a batch."""
        write_batch(self._sink, df, batch_id, repeated=self._repeated)
        self._repeated = False


def write_batch(sink: Sink, df: DataFrame, batch_id: int, *, repeated: bool) -> None:
    """Write a batch.

    A sink that has a repeated batch already skips the rows, and nothing would compute them; but Spark takes the
    watermark from what was computed, and checks that every state was committed.
    """
    if not repeated:
        sink.write_new(df, batch_id)
        return
    with _computed(df) as rows:
        sink.write(rows, batch_id)


@contextmanager
def _computed(df: DataFrame, planning: AbstractContextManager[None] | None = None) -> Iterator[DataFrame]:
    """Compute rows and keep them for the block; ``planning`` holds while Spark plans them."""
    with planning or nullcontext():
        df.persist()
    try:
        # ``persist`` is lazy. This computes every row once, so observations are complete before the sink reads any.
        df.write.format("noop").mode("overwrite").save()
        yield df
    finally:
        df.unpersist()
