"""Run a job in this process, without Spark, to its end: one batch, in the folder and exactly once as on Spark.

Queries that share all tables that they read are computed side by side. All are written in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory

from sqlext.errors import SqlExtError
from sqlext.jobs.parts import LocalPart, Place
from sqlext.jobs.progress import Progress
from sqlext.jobs.query import JobLog, Query, end_job
from sqlext.jobs.recording import Recorder
from sqlext.local.engine import Computed, computed
from sqlext.local.reading import ReadRows, threads
from sqlext.local.shared_tables import SharedTables
from sqlext.rewrite.script.shared import SharedRead
from sqlext.spark.failures import run_error
from sqlext.stores.location import Location

#: The number of the only batch, which Spark's one batch has too.
_BATCH = 0


def at_step(name: str) -> None:
    """Do nothing; fault tests put a crash here, between any two steps."""


def run_job(name: str, parts: Sequence[LocalPart], log: JobLog, reads: Sequence[SharedRead] = ()) -> Query:
    """Run a job and return its query, which has ended.

    The folders of its parts are given free.

    Args:
        reads: the tables that its parts read together.

    Raises:
        SqlExtError: why it failed.
    """
    query = Query(name, {p.name: Progress() for p in parts}, streaming=True, bounded=True)
    query.recorders = {
        p.name: Recorder(p.name, p.place.home.progress, True, p.steps) for p in parts if not p.place.run.finished
    }
    error: SqlExtError | None = None
    try:
        going_on = {part.name for part in parts if _goes_on(part.place)}
        for part in parts:
            if not part.place.run.finished:
                part.place.home.begin(part.place.run)
                query.recorders[part.name].begin()
        log.started()
        at_step("begun")
        with _computing(parts, SharedTables(reads)) as computing:
            for part in parts:
                if part.name in computing:
                    _write(part, query, computing.pop(part.name), repeated=part.name in going_on)
        # All sinks end before the first query is marked as finished: a job killed in between ends its sinks again.
        active = [p for p in parts if not p.place.run.finished]
        for part in active:
            part.sink.finish()
            at_step("sink finished")
        for part in active:
            part.place.home.finish(part.place.run)
            at_step("finished")
    except BaseException as failure:
        error = run_error(failure, parts[0].span)
        if not isinstance(failure, Exception):  # Ctrl-C: the folders are given free before it goes on
            raise
        raise error from error.__cause__
    finally:
        _end(query, parts, log, error)
    return query


def _goes_on(place: Place) -> bool:
    """Whether the run was begun before: then its batch may be in the sink, whatever is noted of it."""
    before = place.home.run()
    return before is not None and before.run_id == place.run.run_id


@contextmanager
def _computing(parts: Sequence[LocalPart], shared: SharedTables) -> Iterator[dict[str, Callable[[], Computed]]]:
    """Give what computes the rows of all parts that have not been written.

    Parts that read only what is shared are computed side by side. The others may find the rows of those before them.
    Who leaves the block early waits for none of them, and no more is read for them.
    """
    pool = ThreadPoolExecutor(threads(), "sqlext compute")
    computing: dict[str, Callable[[], Computed]] = {}
    try:
        for number, part in enumerate(parts):
            # Spark may have done it all, and died before it said so.
            if not part.place.run.finished and part.place.home.last_batch() < _BATCH:
                compute = partial(_computed, part, partial(shared.given, number))
                computing[part.name] = (
                    pool.submit(compute).result if shared.has_all_of(number, part.script) else compute
                )
        yield computing
    except BaseException:
        shared.close()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _computed(part: LocalPart, given: Callable[[Location], Mapping[str, ReadRows]]) -> Computed:
    # What readers remember is of this run alone: one that failed is no reason to leave out what it has read.
    with TemporaryDirectory(prefix="sqlext-") as sources:
        place = Location(sources)
        return computed(part.script, place, given(place))


def _write(part: LocalPart, query: Query, compute: Callable[[], Computed], *, repeated: bool) -> None:
    home = part.place.home
    try:
        found = compute()
        repeated = repeated or home.repeats_a_batch()
        home.begin_batch(_BATCH, found.ends)
        at_step("batch begun")
        home.fence.check()
        part.sink.write(found.rows, _BATCH, repeated=repeated)
        home.fence.check()
    except Exception as error:
        raise run_error(error, part.span) from error
    at_step("batch written")
    query.wrote(part.name, found.rows.num_rows, found.read)


def _end(query: Query, parts: Sequence[LocalPart], log: JobLog, error: SqlExtError | None) -> None:
    failure = end_job(query, log, [part.place.home.close for part in parts], error, parts[0].span)
    if failure is not None and error is None:
        raise failure from failure.__cause__
