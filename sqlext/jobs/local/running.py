"""Run a query without an end in this process: each micro-batch is read, stepped, written, and noted.

A micro-batch goes by what is noted before its sink writes: up to where it reads, and what time it is. Whoever repeats
it gets the same rows, and the sink knows it by its number. What it leaves is noted behind the sink.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlext.connectors.moments import ProcessingClock
from sqlext.jobs.local.commits import Commits, Moment, StreamCommit
from sqlext.jobs.local.keeping import StreamTime
from sqlext.jobs.parts import LocalPart
from sqlext.jobs.progress import Counts, DoneBatch, MicroBatch
from sqlext.jobs.query import Query
from sqlext.local.states import KeptStates
from sqlext.local.stepwise import BatchInput, StepwiseRun
from sqlext.local.streams import BatchRows, SharedTable, TableStreams
from sqlext.rewrite.arrow.in_process import Operated
from sqlext.watermarks.history import OperatorState

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

#: Seconds between the starts of two micro-batches where nobody says another number: so a table gets five commits a
#: second at most.
_PACE = 0.2
#: Seconds between two looks for rows while none come: of topics, and of folders, which must be listed.
_LOOK_TOPIC, _LOOK_FOLDER = 0.02, 0.2
#: Seconds between two looks at who wants the query to stop, and two records of how it goes.
_RECORD = 1.0
#: Looks after which all that was there before is worked off: one may have been under way.
_LOOKS = 2


def at_step(name: str) -> None:
    """Do nothing; fault tests put a crash here, between any two steps."""


@dataclass
class _Spent:
    """Milliseconds in the parts of a micro-batch: the names are Spark's, and ``compute``."""

    _since: float = field(default_factory=time.perf_counter)
    parts: dict[str, int] = field(default_factory=dict)

    def through(self, part: str) -> None:
        """Count the time since the part before."""
        now = time.perf_counter()
        self.parts[part] = round((now - self._since) * 1000)
        self._since = now


class LocalStream:
    """One query of a job, on its way (``query.RunningStream``).

    Args:
        part: the query.
        query: that of the job, which is told of each micro-batch.
        clock: what time it is.
        pace: seconds between the starts of two micro-batches; None: as they come.
        writes: is held while the sink writes.
        shared: tables that other queries of the job read too, by their views.

    Attributes:
        failed: whether it has ended because something failed.
    """

    def __init__(
        self,
        part: LocalPart,
        query: Query,
        clock: ProcessingClock,
        pace: float | None,
        writes: threading.Lock,
        shared: Mapping[str, SharedTable],
    ) -> None:
        self.part = part
        self._query = query
        self._clock = clock
        self._pace = _PACE if pace is None else pace
        self._writes = writes
        self._shared = shared
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._looks = 0  # at which there was nothing to do
        self._wanted = 0  # looks that somebody waits for
        self._over = False
        self.failed = False
        self._repeated = False
        self._recorded = 0.0

    # What a query asks

    @property
    def lastProgress(self) -> StreamingQueryProgress | None:  # noqa: N802 - Spark's names
        """Nothing: it counts what it does by itself."""
        return None

    @property
    def recentProgress(self) -> list[StreamingQueryProgress]:  # noqa: N802
        """Nothing, as ``lastProgress``."""
        return []

    def processAllAvailable(self) -> None:  # noqa: N802
        """Wait until there was nothing to do for a while.

        Raises:
            RuntimeError: if it failed; the query says why.
        """
        with self._changed:
            wanted = self._wanted = self._looks + _LOOKS
            self._changed.notify_all()
            while self._looks < wanted and not self._over:
                self._changed.wait(_RECORD)
        if self.failed:
            raise RuntimeError(f"query `{self.part.name}` has failed")

    def stop(self) -> None:
        """Let the micro-batch that is under way be the last."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()

    # Its life

    def run(self) -> None:
        """Run until it is stopped.

        Raises:
            SqlExtError: why it failed.
        """
        try:
            self._streams.begin()
            self._repeat()
            while not self._stopping.is_set():
                began = time.monotonic()
                if self._look():
                    self._wait(began + self._pace - time.monotonic())
                else:
                    self._rest()
        except BaseException:
            self.failed = True
            raise
        finally:
            self._streams.close()
            with self._changed:
                self._over = True
                self._changed.notify_all()

    @cached_property
    def _commits(self) -> Commits:
        return Commits(self.part.place.home)

    @cached_property
    def _last(self) -> StreamCommit:
        return self._commits.last()

    @cached_property
    def _streams(self) -> TableStreams:
        return TableStreams(self.part.script, self.part.place.home.sources, self._last.places, self._shared)

    @cached_property
    def _states(self) -> KeptStates:
        operators = [step for step in self.part.script.steps if isinstance(step, Operated)]
        return KeptStates(self._commits.levels, operators, self._last.states)

    @cached_property
    def _run(self) -> StepwiseRun:
        return StepwiseRun(self.part.script, self._states, begun=self._last.number >= 0)

    @cached_property
    def time(self) -> StreamTime:
        """Who keeps its time."""
        inputs = [kept.input for kept in self.part.script.script.kept]
        return StreamTime(self.part.place.home.time, inputs, self._clock.now(), self._last.time)

    def _repeat(self) -> None:
        """Do the micro-batch again that was begun and is not done."""
        self._watermark = self._last.watermark
        moment = self._commits.begun(self._last.number + 1)
        if moment is not None:
            self._repeated = True
            taken = self._streams.take(moment.places)
            self.time.take(moment.number, taken.inputs, moment.clock, moment.late)
            self._watermark = self._decided(moment.clock)
            self._batch(moment, taken, _Spent())

    def _look(self) -> bool:
        """Do a micro-batch if there is something to do; return whether there was."""
        spent, now = _Spent(), self._clock.now()
        ends = self._streams.ahead()
        self.time.meet(self._streams.splits(ends or self._streams.places), now)
        spent.through("latestOffset")
        if ends is None:
            # Only now is it known that inputs are silent, and do not just wait.
            for name in self._streams.ended:
                self.time.keeper.ended(name)
            self._watermark = self._decided(now)
            if not self._is_due(now):
                return False
        late = self._watermark
        taken = BatchRows() if ends is None else self._streams.take(ends)
        number = self._last.number + 1
        self.time.take(number, taken.inputs, now, late)
        self._watermark = self._decided(now)
        spent.through("getBatch")
        moment = Moment(number, self._streams.places, now, self._watermark, late)
        self._commits.begin(moment, self._streams.by_name(moment.places), self._streams.noted)
        spent.through("walCommit")
        at_step("batch begun")
        self._batch(moment, taken, spent)
        return True

    def _decided(self, now: int) -> int | None:
        """Return the watermark that follows from all that was seen; it never goes back."""
        self._streams.hold(self.time.keeper.decide(now).held)
        known = [w for w in (self._watermark, self.time.keeper.watermark) if w is not None]
        return max(known) if known else None

    def _is_due(self, now: int) -> bool:
        batch = BatchInput({}, self._watermark, self._watermark, now)
        clocks = {view: of.clock(batch, first=not self._run.begun) for view, of in self._run.times.items()}
        return self._states.are_due(clocks)

    def _batch(self, moment: Moment, taken: BatchRows, spent: _Spent) -> None:
        home, before = self.part.place.home, self._states.dropped
        rows = self._run.batch(BatchInput(taken.tables, moment.watermark, moment.late, moment.clock))
        spent.through("compute")
        home.fence.check()
        if rows.num_rows or self._repeated:
            with self._writes:
                self.part.sink.write(rows, moment.number, repeated=self._repeated)
        spent.through("addBatch")
        at_step("batch written")
        # A stream that goes on repeats its first micro-batch at most.
        self._repeated = False
        watermark = max((w for w in (moment.watermark, self._watermark) if w is not None), default=None)
        self._watermark = watermark
        known = self.time.keeper.to_json()
        self._last = StreamCommit(moment.number, self._streams.places, watermark, known, tuple(self._states.kept))
        self._commits.end(self._last)
        self._states.committed()
        self._streams.committed()
        spent.through("commitOffsets")
        at_step("batch done")
        self._count(moment, taken, rows, spent, self._states.dropped - before)
        self._record()

    def _count(self, moment: Moment, taken: BatchRows, rows: pa.Table, spent: _Spent, dropped: int) -> None:
        largest = [seen.largest for of in taken.inputs.values() for seen in of.seen if seen.largest is not None]
        busy = sum(spent.parts.values())
        batch = MicroBatch(
            moment.clock, moment.number, moment.watermark, max(largest, default=None), taken.rows, rows.num_rows
        )
        counts = Counts(1, taken.rows, rows.num_rows, rows_dropped=dropped, busy_ms=busy)
        operators = tuple(OperatorState(k.open_groups, 0, k.size, 0) for k in reversed(self._states.kept))
        inputs = {name: of.rows for name, of in taken.inputs.items()}
        self._query.did(self.part.name, DoneBatch(batch, counts, inputs, operators, spent.parts))

    def _rest(self) -> None:
        """Wait for rows; let those go on who wait until there is nothing to do."""
        self._record()
        if self._looks + 1 >= self._wanted > self._looks:
            self.time.save()
        with self._changed:
            self._looks += 1
            self._changed.notify_all()
            if self._looks >= self._wanted and not self._stopping.is_set():
                self._changed.wait(_LOOK_FOLDER if self._streams.has_files else _LOOK_TOPIC)

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self._stopping.wait(seconds)

    def _record(self) -> None:
        """Record now and then how it goes, and look whether it may go on."""
        if time.monotonic() < self._recorded + _RECORD:
            return
        self._recorded = time.monotonic()
        self.part.place.home.refuse_if_lost()
        self.time.save()
        self._query.record(self.part.name)
        if self._query.is_to_stop(self.part.name):
            self._query.request_stop()
