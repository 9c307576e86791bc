"""Add up Spark's progress reports of a query, micro-batch by micro-batch.

Spark keeps only its last hundred reports.
"""

from __future__ import annotations

import ast
import json
import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from sqlext.connectors.moments import rows_alone
from sqlext.jobs.arrived import ObservedInput, observed
from sqlext.spark.observed import AGAIN, BAD_ROWS, INPUT, JUDGED, READ_BY_US, ROWS_OUT
from sqlext.watermarks.history import OperatorState
from sqlext.watermarks.inputs import WHOLE
from sqlext.watermarks.sketch import Arrived
from sqlext_udfs.spark.registry import OBSERVED

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress

#: How Spark describes the source of the ticks of a clock that runs (``ticks.CLOCK``); Spark 4.2 forgets the bracket.
_CLOCK = "RateStreamV2[rowsPerSecond=1, rampUpTimeSeconds=0, numPartitions=1"


#: What Spark calls the time of a whole micro-batch.
_WHOLE_BATCH = "triggerExecution"
#: How Spark calls operators of ours begin.
_OURS = "transformWithState"
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


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of some micro-batches; ``busy_ms`` is the time within them."""

    batch: int = 0
    rows_in: int = 0
    rows_out: int = 0
    rows_late: int = 0
    rows_dropped: int = 0
    busy_ms: int = 0
    rows_bad: int = 0
    dead_letters: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sum."""
        return Counts(
            self.batch + other.batch,
            self.rows_in + other.rows_in,
            self.rows_out + other.rows_out,
            self.rows_late + other.rows_late,
            self.rows_dropped + other.rows_dropped,
            self.busy_ms + other.busy_ms,
            self.rows_bad + other.rows_bad,
            self.dead_letters + other.dead_letters,
        )


@dataclass(frozen=True, slots=True)
class DoneBatch:
    """A micro-batch that this process has done.

    Attributes:
        moment: what is remembered of it.
        counts: what it had.
        rows: that it read of each input, by its name.
        operators: their state after it, that of the sink first.
        spent: ms in its parts.
    """

    moment: MicroBatch
    counts: Counts
    rows: Mapping[str, int]
    operators: tuple[OperatorState, ...]
    spent: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class InputCounts:
    """Rows and times that micro-batches had of an input; times in ms since 1970 UTC.

    ``largest`` is the largest time that its watermark goes by, and ``last_rows`` the rows of the last micro-batch.
    """

    largest: int | None = None
    rows: int = 0
    batches: int = 0
    last_rows: int = 0
    smallest: int | None = None

    def plus(self, largest: int | None, rows: int, smallest: int | None = None) -> InputCounts:
        """Return the counts with those of another batch."""
        last = max((t for t in (self.largest, largest) if t is not None), default=None)
        first = min((t for t in (self.smallest, smallest) if t is not None), default=None)
        return InputCounts(last, self.rows + rows, self.batches + 1, rows, first)


@dataclass(frozen=True, slots=True)
class Details:
    """What a page shows of a query beside its counts; see ``watermarks.history.Sample``."""

    spent: Mapping[str, int]
    read: Mapping[str, int]
    operators: tuple[OperatorState, ...]


@dataclass(frozen=True, slots=True)
class InputsRead:
    """Rows and offsets that finished micro-batches have read.

    Attributes:
        counts: of each input, by its name: of all of it (""), and of its splits.
        ends: where the last of them ended in each source that says so by names: Spark's offsets.
        arrived: the times of the rows of the last of them, the oldest first.
    """

    counts: Mapping[str, Mapping[str, InputCounts]]
    ends: Sequence[Mapping[str, Any]]
    arrived: Sequence[Arrived] = ()


class Progress:
    """Adds up the progress of one query of a job; safe to use from several threads.

    Args:
        own: folders that hold sources of our own (heartbeats, ticks): their rows are none of the user's.
    """

    def __init__(self, own: tuple[str, ...] = ()) -> None:
        self._own = own
        self._lock = threading.Lock()
        self._total = Counts()
        self._newest = Counts()
        # What was counted outside of the stream in the micro-batch that Spark reports next.
        self._apart = Counts()
        self._last: tuple[str, int] | None = None  # the run and the batch that were taken last
        self._watermark: int | None = None
        self._state_rows = 0
        self._state_bytes = 0
        self._inputs: dict[str, dict[str, InputCounts]] = {}
        self._ends: tuple[Mapping[str, Any], ...] = ()
        self._arrived: deque[Arrived] = deque(maxlen=MOST)
        self._arrivals = 0
        self._judging: int | None = None  # the watermark of the micro-batch before the one that is taken
        self._moments: deque[MicroBatch] = deque(maxlen=MOST)
        self._spent: Counter[str] = Counter()
        self._operators: tuple[OperatorState, ...] = ()

    def add(self, reports: Iterable[StreamingQueryProgress]) -> None:
        """Take Spark's reports, oldest first; those that were taken before change nothing."""
        with self._lock:
            for report in reports:
                self._take(report)

    def done(self, batch: DoneBatch) -> None:
        """Count a micro-batch of this process."""
        with self._lock:
            moment = batch.moment
            self._watermark = moment.watermark if moment.watermark is not None else self._watermark
            self._total, self._newest = self._total.plus(batch.counts), batch.counts
            self._moments.append(moment)
            self._state_rows = sum(operator.rows for operator in batch.operators)
            self._state_bytes = sum(operator.size for operator in batch.operators)
            self._operators = batch.operators
            self._spent.update(batch.spent)
            for name, rows in batch.rows.items():
                known = self._inputs.setdefault(name, {})
                known[WHOLE] = known.get(WHOLE, InputCounts()).plus(moment.newest, rows)

    def is_next(self, report: StreamingQueryProgress) -> bool:
        """Whether no micro-batch of the same run lies between a report and those that were taken."""
        with self._lock:
            run, batch = self._last or ("", -1)
            return str(report.runId) == run and report.batchId <= batch + 1

    def wrote(self, rows: int, read: int = 0) -> None:
        """Count rows that were written outside of a stream, and those that were read for them."""
        with self._lock:
            apart = Counts(rows_in=read, rows_out=rows)
            self._total, self._apart = self._total.plus(apart), self._apart.plus(apart)

    def refused(self, rows: int) -> None:
        """Count rows among the dead letters that Spark reports as rows that came out."""
        with self._lock:
            apart = Counts(rows_out=-rows, dead_letters=rows)
            self._total, self._apart = self._total.plus(apart), self._apart.plus(apart)

    def moments(self) -> list[MicroBatch]:
        """Return its last micro-batches, oldest first."""
        with self._lock:
            return list(self._moments)

    def read(self) -> InputsRead:
        """Return what was read so far."""
        with self._lock:
            return InputsRead(
                {name: dict(counts) for name, counts in self._inputs.items()}, self._ends, tuple(self._arrived)
            )

    def details(self) -> Details:
        """Return the parts of micro-batches, the rows of inputs, and the operators that keep state."""
        with self._lock:
            read = {name: counts[WHOLE].rows for name, counts in self._inputs.items() if WHOLE in counts}
            return Details(dict(self._spent), read, self._operators)

    def values(self) -> dict[str, Any]:
        """Return what there is to say; see ``Query.progress``."""
        with self._lock:
            total = self._total
            return {
                "batch": total.batch,
                "rows_in": total.rows_in,
                "rows_out": total.rows_out,
                "watermark": self._watermark,
                "state_rows": self._state_rows,
                "state_bytes": self._state_bytes,
                "rows_late": total.rows_late,
                "rows_dropped": total.rows_dropped,
                "rows_bad": total.rows_bad,
                "dead_letters": total.dead_letters,
                "busy_ms": total.busy_ms,
                "last_rows": self._newest.rows_in,
                "last_ms": self._newest.busy_ms,
            }

    def _take(self, report: StreamingQueryProgress) -> None:
        watermark = _watermark(report)
        if watermark is not None:
            self._watermark = max(watermark, self._watermark or watermark)
        # A report of a trigger that found nothing carries the number of the batch that is still to come.
        if "addBatch" not in report.durationMs or self._was_taken(report):
            return
        # Spark judges rows by the watermark of the micro-batch before. After a restart that one is not known any more.
        same = self._last is not None and self._last[0] == str(report.runId)
        judged, self._judging = self._judging if same else watermark, watermark
        self._last = (str(report.runId), report.batchId)
        inputs = _inputs(report)
        self._observe(report, inputs, judged)
        # Spark's own sources may report a number or null.
        offsets = (_offset(s.endOffset) for s in report.sources)
        self._ends = tuple(rows_alone(offset) for offset in offsets if isinstance(offset, dict))
        counts = self._counts(report, inputs)
        self._total = self._total.plus(counts)
        self._newest, self._apart = counts.plus(self._apart), Counts()
        self._moments.append(moment_of(report, self._newest.rows_in, self._newest.rows_out))
        self._state_rows = _open(report)
        self._state_bytes = sum(op.memoryUsedBytes for op in report.stateOperators)
        self._spent.update({part: ms for part, ms in report.durationMs.items() if part != _WHOLE_BATCH})
        self._operators = _operators(report, self._operators)

    def _was_taken(self, report: StreamingQueryProgress) -> bool:
        # A query that is started again has another run id, and goes on counting its batches.
        return self._last is not None and self._last[0] == str(report.runId) and report.batchId <= self._last[1]

    def _observe(self, report: StreamingQueryProgress, inputs: Mapping[str, ObservedInput], judged: int | None) -> None:
        through = instant_millis(report.timestamp) + report.durationMs.get(_WHOLE_BATCH, 0)
        for name, found in inputs.items():
            self._arrived.append(Arrived(self._arrivals, name, through, judged, found.times))
            self._arrivals += 1
            known = self._inputs.setdefault(name, {})
            for split, counts in found.counts.items():
                before = known.get(split, InputCounts())
                known[split] = before.plus(counts.largest, counts.rows, counts.smallest)

    def _counts(self, report: StreamingQueryProgress, inputs: Mapping[str, ObservedInput]) -> Counts:
        late = _given_out(report, "late")  # operators count them among those that they did not take
        dropped = sum(op.numRowsDroppedByWatermark for op in report.stateOperators)
        return Counts(
            1,
            sum(s.numInputRows for s in report.sources if not is_own(s.description, self._own))
            + _unpacked(report, inputs)
            - _judged(report, AGAIN),
            _given_out(report, "n"),
            late,
            dropped + _counted(report, "late", "closed") - late,
            report.durationMs.get(_WHOLE_BATCH, 0),
            _judged(report, BAD_ROWS),
            _given_out(report, "letters"),
        )


def joined(parts: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the progress of a job of several queries: sums, the watermark that is furthest behind, all inputs.

    Of the last micro-batches the longest counts.
    """
    if len(parts) == 1:
        return dict(next(iter(parts.values())))
    watermarks = [p["watermark"] for p in parts.values() if p["watermark"] is not None]
    names = (
        "batch rows_in rows_out state_rows state_bytes rows_late rows_dropped rows_bad dead_letters busy_ms last_rows"
    ).split()
    sums = {name: sum(p[name] for p in parts.values()) for name in names}
    inputs = [row for p in parts.values() for row in p["inputs"]]
    longest = max(p["last_ms"] for p in parts.values())
    return {**sums, "last_ms": longest, "watermark": min(watermarks) if watermarks else None, "inputs": inputs}


def is_own(description: str, folders: Iterable[str]) -> bool:
    """Whether a source, as Spark's reports describe it, is none of the user's: the clock, or one of some folders."""
    # Spark writes ``FileStreamSource[file:/folder/heartbeat]``, and a URL as it is.
    inside = any(f"{before}{folder}{end}" in description for folder in folders for before in ":[" for end in "/]")
    return inside or description.rstrip("]") == _CLOCK


def begins_anew(description: str, folders: Iterable[str], fed_back: str) -> bool:
    """Whether a source begins anew with a new checkpoint: one of our own, but not that of what is fed back once."""
    return is_own(description, folders) and not is_own(description, (fed_back,))


def _open(report: StreamingQueryProgress) -> int:
    """Return how many groups and windows are open; an operator of ours counts its own, Spark its buckets."""
    native = (op.numRowsTotal for op in report.stateOperators if not op.operatorName.startswith(_OURS))
    return sum(native) + _counted(report, "open")


def _operators(report: StreamingQueryProgress, before: Sequence[OperatorState]) -> tuple[OperatorState, ...]:
    """Return the operators that keep state, as Spark lists them: that of the sink first."""
    # Views are numbered from the sources on.
    counted = sorted((n for n in _observed(report) if n.startswith(OBSERVED)), key=lambda n: (len(n), n))
    found = []
    for place, op in enumerate(report.stateOperators):
        rows, dropped = op.numRowsTotal, op.numRowsDroppedByWatermark
        if op.operatorName.startswith(_OURS) and counted:
            own = _observed(report)[counted.pop()]
            rows, dropped = int(own["open"] or 0), dropped + int(own["late"] or 0) + int(own["closed"] or 0)
        last = before[place] if place < len(before) else OperatorState(0, 0, 0, 0)
        found.append(OperatorState(rows, last.updated + op.numRowsUpdated, op.memoryUsedBytes, last.dropped + dropped))
    return tuple(found)


def _counted(report: StreamingQueryProgress, *names: str) -> int:
    """Return what operators of ours have counted."""
    rows = (row for name, row in _observed(report).items() if name.startswith(OBSERVED))
    return sum(int(row[name] or 0) for row in rows for name in names)


def _unpacked(report: StreamingQueryProgress, inputs: Mapping[str, ObservedInput]) -> int:
    """Return how many more rows were read than packed ones were given to Spark."""
    rows = (row for name, row in _observed(report).items() if name.startswith(READ_BY_US))
    more = sum(int(row["rows"] or 0) - int(row["packed"] or 0) for row in rows)
    return more + sum(of.counts[WHOLE].rows - of.packed for of in inputs.values() if of.packed is not None)


def _inputs(report: StreamingQueryProgress) -> dict[str, ObservedInput]:
    """Return what the micro-batch had of each input, by its name."""
    rows = _observed(report).items()
    return {name.removeprefix(INPUT): observed(row) for name, row in rows if name.startswith(INPUT)}


def _judged(report: StreamingQueryProgress, what: str) -> int:
    """Return how many rows of all sources could not be decoded, or were read again."""
    return sum(int(row[what] or 0) for name, row in _observed(report).items() if name.startswith(JUDGED))


def _watermark(report: StreamingQueryProgress) -> int | None:
    text = report.eventTime.get("watermark")
    # Until there is a watermark Spark reports 1970-01-01.
    return (instant_millis(text) or None) if text else None


def _given_out(report: StreamingQueryProgress, what: str) -> int:
    """Return how many rows came out: ``n`` of the query itself, ``late`` ones for a late table."""
    return int(_observed(report).get(ROWS_OUT, {}).get(what) or 0)


def _observed(report: StreamingQueryProgress) -> dict[str, dict[str, Any]]:
    """Return what was observed, by the names of the observations and of their columns."""
    return {name: _named(row.asDict()) for name, row in report.observedMetrics.items()}


def _named(found: dict[str, Any]) -> dict[str, Any]:
    """Return observed values by name: Spark Connect gives them and their names apart."""
    if found.keys() != {"values", "schema"}:
        return found
    return dict(zip((f["name"] for f in found["schema"]["fields"]), found["values"], strict=True))


def moment_of(report: StreamingQueryProgress, rows_in: int, rows_out: int) -> MicroBatch:
    """Return the micro-batch that Spark reports."""
    times = report.eventTime
    at = instant_millis(report.timestamp)
    watermark, newest = (instant_millis(times[k]) if times.get(k) else None for k in ("watermark", "max"))
    return MicroBatch(at, report.batchId, watermark or None, newest or None, rows_in, rows_out)


def instant_millis(text: str) -> int:
    """Return an instant as Spark writes it (``2024-01-01T00:00:00.000Z``) in ms since 1970 UTC."""
    # In integers: ``total_seconds`` is a float, whose rounding could lose a millisecond.
    since = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def _offset(text: str) -> object:
    """Return an offset of a source: JSON, which PySpark before 4.2 gives as Python shows it; None of another text."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
