"""Do a micro-batch of one bucket: read its state value once, hand all its rows to the operator, write it once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle, TimerValues, ValueState

from sqlext.errors import SqlExtError
from sqlext_udfs.kernel.clock import END_OF_INPUT, behind
from sqlext_udfs.kernel.levelled import Done, Levelled, LevelRules, StepTimes, is_due
from sqlext_udfs.kernel.operator import BucketOperator, Clock, Wakeup
from sqlext_udfs.kernel.packing import tables
from sqlext_udfs.kernel.table_codec import decode_rows
from sqlext_udfs.kernel.worker_memory import spare_what_is_loaded
from sqlext_udfs.spark.level_store import SparkLevels


class _Remembered(NamedTuple):
    """What a bucket knows of time (ms), apart from its state: a step that changes nothing else writes little."""

    watermark: int | None = None
    now: int | None = None
    event_deadline: int | None = None
    processing_deadline: int | None = None
    open_groups: int = 0

    @property
    def wakeup(self) -> Wakeup:
        """When the bucket has something to do although no rows come."""
        return Wakeup(self.event_deadline, self.processing_deadline)


class BucketSteps:
    """Read a bucket's state once, hand all its rows to the operator, and write the state once if it changed.

    Args:
        operator, buckets, event_time, lag: as of ``BucketProcessor``.
        handle: sets timers.
        value: the state of the bucket that is at work.
        clock: what the bucket knows of time; None for an operator that does not ask.
        levels: of its state; None for an operator whose keys do not go their own way.
        keys: how many columns choose the bucket.
        rules: when state is kept in levels.

    Raises:
        SqlExtError: from its steps, RUN-034 if the state has another number of buckets, RUN-030 and RUN-031 if it
            cannot be read.
    """

    def __init__(
        self,
        operator: BucketOperator[Any],
        buckets: int,
        handle: StatefulProcessorHandle,
        value: ValueState,
        clock: ValueState | None,
        levels: MapState | None = None,
        *,
        event_time: bool,
        lag: int = 0,
        keys: int = 0,
        rules: LevelRules | None = None,
    ) -> None:
        self._operator = operator
        self._levelled = Levelled(operator, keys, rules or LevelRules())
        self._levels = None if levels is None else SparkLevels(levels)
        self._buckets = buckets
        self._handle = handle
        self._value = value
        self._clock = clock
        self._event_time = event_time
        self._lag = lag

    def rows(self, rows: Iterable[Any], timers: TimerValues) -> Iterator[Row]:
        """Process all rows of a bucket in a micro-batch."""
        arrived, ticks = self._arrived(rows)
        yield from self._fold(arrived) if self._clock is None else self._step(arrived, ticks, timers)
        spare_what_is_loaded()

    def moved(self, timers: TimerValues) -> Iterator[Row]:
        """Let a bucket know that the watermark has moved."""
        yield from self._step(None, None, timers)

    def begin(self, state: bytes | None, watermark: int | None, now: int | None) -> None:
        """Begin with the state of another checkpoint, and the time (ms) that was known there."""
        if state is not None:
            self._value.update((self._buckets, bytes(state)))
        if self._clock is not None:
            # Nobody has asked this state for its deadlines yet: the next call does.
            self._remember(_Remembered(), _Remembered(watermark, now, Clock.BEGIN, Clock.BEGIN))

    def _arrived(self, rows: Iterable[Any]) -> tuple[pa.Table | None, int | None]:
        """Return the rows of a bucket, and the latest time that a tick carried."""
        packed: list[pa.Table] = []
        ticks: list[int] = []
        for row in rows:
            if row["rows"] is not None:
                packed.append(decode_rows(row["rows"]))
            if row["now"] is not None:
                ticks.append(row["now"])
        return (self._operator.gathered(packed) if packed else None), (max(ticks) if ticks else None)

    def _fold(self, arrived: pa.Table | None) -> Iterator[Row]:
        if arrived is None:
            return
        yield from _output(self._stepped(arrived, StepTimes(Clock())))

    def _step(self, arrived: pa.Table | None, ticks: int | None, timers: TimerValues) -> Iterator[Row]:
        known = self._remembered()
        time = self._time(known, ticks, timers)
        clock = Clock(behind(time.watermark, self._lag), behind(time.late_watermark, self._lag), time.now)
        # Nothing to do: the state is neither read nor written, only the clock moves on.
        if arrived is None and not is_due(known.wakeup, clock.watermark, clock.now):
            self._remember(known, known._replace(watermark=time.watermark, now=time.now))
            yield _counts(open_groups=known.open_groups)
            return
        done = self._stepped(arrived, StepTimes(clock, known.now))
        self._remember(known, _Remembered(time.watermark, time.now, *done.wakeup, done.open_groups))
        yield from _output(done)

    def _time(self, known: _Remembered, ticks: int | None, timers: TimerValues) -> Clock:
        # Once at its end, always: a later micro-batch must not take an operator back in time.
        watermark = Clock.END if ticks == Clock.END or known.watermark == Clock.END else None
        if self._event_time and watermark is None:
            watermark = max(timers.getCurrentWatermarkInMs(), 0)
            watermark = Clock.END if watermark >= END_OF_INPUT else watermark
        times = [t for t in (known.now, ticks) if t is not None and t != Clock.END]
        # The watermark of the call before is the one by which rows of this batch are late.
        late = known.watermark if known.watermark is not None or not self._event_time else Clock.BEGIN
        return Clock(watermark, late, max(times) if times else None)

    def _remembered(self) -> _Remembered:
        assert self._clock is not None
        value = self._clock.get()
        return _Remembered() if value is None else _Remembered(*value)

    def _remember(self, before: _Remembered, after: _Remembered) -> None:
        """Write the clock, and ask to be called when the watermark moves from here."""
        assert self._clock is not None
        if after == before:
            return
        self._clock.update(tuple(after))
        if self._event_time and after.watermark != before.watermark:
            # One timer at a time: Spark calls when the watermark has passed it.
            if before.watermark is not None and before.watermark < END_OF_INPUT:
                self._handle.deleteTimer(before.watermark + 1)
            if after.watermark is not None and after.watermark < END_OF_INPUT:
                self._handle.registerTimer(after.watermark + 1)

    def _stepped(self, rows: pa.Table | None, times: StepTimes) -> Done:
        """Step the state, and write what has changed."""
        data = self._read()
        done = self._levelled.step(data, rows, times, self._levels)
        # Writing costs a round trip to the JVM and an entry of the changelog.
        if done.kept is not None:
            self._value.update((self._buckets, done.kept))
        return done

    def _read(self) -> bytes | None:
        value = self._value.get()
        if value is None:
            return None
        buckets, data = value
        if buckets != self._buckets:
            raise SqlExtError(
                "RUN-034",
                f"the query's state lies in {buckets} buckets, not in {self._buckets}",
                hint=f"run it with {buckets} buckets, or DROP QUERY starts it anew",
            )
        return bytes(data)


def _output(done: Done) -> Iterator[Row]:
    yield _counts(done.step.dropped_late, done.step.dropped_closed, done.open_groups)
    for table in tables(done.step.out):
        yield Row(rows=table, late=0, closed=0, open=0)


def _counts(late: int = 0, closed: int = 0, open_groups: int = 0) -> Row:
    return Row(rows=None, late=late, closed=closed, open=open_groups)
