"""Keep how a query went in a file of its folder: samples of its counts and watermarks, for a day."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlext.stores.location import Location
from sqlext.watermarks.report import InputReport, TimeReport

#: ms in which samples are kept as they were taken. Of older ones the last of each ``SPARSE`` ms stays.
DENSE = 15 * 60_000
SPARSE = 60_000
#: ms after which a sample goes.
LONGEST = 24 * 60 * 60_000
#: ms between two samples: one is taken when something has changed, and at most two within this time.
SPACING = 1000
#: ms between two times that a file is written whole which cannot grow.
_REWRITES = 30_000
#: Samples that are kept at most, and lines by which a file may outgrow them before it is written anew.
MOST = DENSE // SPACING * 2 + (LONGEST - DENSE) // SPARSE
_SURPLUS = 1000
FILE = "history.jsonl"


@dataclass(frozen=True, slots=True)
class OperatorState:
    """The state of an operator after a micro-batch; ``updated`` and ``dropped`` count since the query was started.

    Attributes:
        rows: rows of Spark's state, or groups of an operator of ours.
        updated: rows of the state that were written.
        size: bytes of memory.
        dropped: rows that came behind the watermark.
    """

    rows: int
    updated: int
    size: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A query at one moment; times in ms since 1970 UTC, counts since it was started.

    Attributes:
        at: the moment, by the keeper's clock; two samples that differ in it alone are the same.
        watermark: the query's.
        inputs: of each input its watermark, and ``idle``, ``held``, ``ended`` or ``active``.
        open: windows and groups open.
        began: when the query was started: counts of another start begin anew.
        batch: micro-batches.
        state_bytes: memory of state stores.
        busy_ms: time within micro-batches.
        last_rows: rows that the last micro-batch has read.
        last_ms: how long it took.
        spent: time within parts of micro-batches, in ms, by Spark's names.
        read: rows of each input.
        operators: those that keep state, from the sink on; nothing in old samples.
        dead_letters: rows that the table of dead letters has taken.
    """

    at: int = field(compare=False)
    watermark: int | None
    inputs: Mapping[str, tuple[int | None, str]]
    open: int
    rows_in: int
    rows_out: int
    rows_late: int
    rows_dropped: int
    rows_bad: int = 0
    began: int | None = None
    batch: int = 0
    state_bytes: int = 0
    busy_ms: int = 0
    last_rows: int = 0
    last_ms: int = 0
    spent: Mapping[str, int] = field(default_factory=dict)
    read: Mapping[str, int] = field(default_factory=dict)
    operators: tuple[OperatorState, ...] = ()
    dead_letters: int = 0

    @staticmethod
    def of(at: int, report: TimeReport | None, progress: Mapping[str, Any], **more: Any) -> Sample:
        """Return what a keeper and a query's progress say now.

        Args:
            at: now, where there is no keeper.
            more: the other attributes that are known.
        """
        counts = {name: progress[name] for name in _COUNTS if name in progress}
        if report is None:
            return Sample(at, progress["watermark"], {}, progress["state_rows"], **counts, **more)
        inputs = {i.name: (i.watermark, _state(i)) for i in report.inputs}
        return Sample(report.at, report.watermark, inputs, progress["state_rows"], **counts, **more)


_COUNTS = (
    "rows_in rows_out rows_late rows_dropped rows_bad dead_letters batch state_bytes busy_ms last_rows last_ms"
).split()


def _state(known: InputReport) -> str:
    if known.ended:
        return "ended"
    if known.idle:
        return "idle"
    return "held" if any(s.held for s in known.splits) else "active"


class History:
    """The samples of a query, in a file that goes on after a restart.

    A file of this machine gets line after line. An object can only be written whole, so it is written rarely.

    Args:
        place: ``QueryHome.progress``.
    """

    def __init__(self, place: Location) -> None:
        self._place = place
        text = place.text(FILE) or ""
        self._kept = thinned(list(read_samples(text)))
        self._lines = text.count("\n")
        self._last: Sample | None = None
        self._waiting: Sample | None = None
        self._saved = 0
        # The job's thread writes, and a page is asked for in another.
        self._lock = threading.Lock()

    def take(self, sample: Sample) -> None:
        """Take a sample; it is written when it says something new and the last one is old enough."""
        with self._lock:
            if self._last is not None and sample.at - self._last.at < SPACING:
                self._waiting = sample
                return
            self._flush()
            self._write(sample)

    def flush(self) -> None:
        """Write the newest sample if it waits."""
        with self._lock:
            self._flush()
            if self._place.path is None and self._kept:
                self._rewrite()

    def _flush(self) -> None:
        if self._waiting is not None:
            self._write(self._waiting)
            self._waiting = None

    def samples(self) -> list[Sample]:
        """Return the samples, oldest first, and the one that waits to be written."""
        with self._lock:
            return [*self._kept, *([self._waiting] if self._waiting is not None else [])]

    def _write(self, sample: Sample) -> None:
        if sample == self._last:
            return
        self._last = sample
        self._kept.append(sample)
        path = self._place.path
        if path is not None:
            self._append(path / FILE, sample)
        elif sample.at - self._saved >= _REWRITES:
            self._saved = sample.at
            self._rewrite()

    def _append(self, file: Path, sample: Sample) -> None:
        # Not each time that one is old: then each sample would write the whole file anew.
        if self._lines >= MOST + _SURPLUS:
            self._rewrite()
            return
        with suppress(FileNotFoundError):  # the folder of a SELECT goes when it ends
            with file.open("a", encoding="utf-8") as stream:
                stream.write(_line(sample))
            self._lines += 1

    def _rewrite(self) -> None:
        self._kept = thinned(self._kept)
        # In one step: a reader in another process sees the old file or the new one.
        self._place.put(FILE, "".join(map(_line, self._kept)))
        self._lines = len(self._kept)


def thinned(taken: Sequence[Sample]) -> list[Sample]:
    """Return the samples of a day, oldest first: all of late, and one a minute of those before, without operators."""
    newest = taken[-1].at if taken else 0
    of_a_minute: dict[int, Sample] = {}
    late = []
    for sample in taken:
        if newest - sample.at <= DENSE:
            late.append(sample)
        elif newest - sample.at <= LONGEST:
            of_a_minute[sample.at // SPARSE] = sample
    return [*(replace(s, operators=()) for s in of_a_minute.values()), *late]


def samples(place: Location) -> list[Sample]:
    """Return the samples in a query's folder ``progress``, oldest first; other lines are left out."""
    return thinned(list(read_samples(place.text(FILE) or "")))


def read_samples(text: str) -> Iterator[Sample]:
    """Yield the samples of some lines; those that a kill cut off, or another version wrote, are left out."""
    return _read(text.splitlines())


def _line(sample: Sample) -> str:
    return json.dumps(asdict(sample), separators=(",", ":")) + "\n"


def _read(lines: Iterable[str]) -> Iterator[Sample]:
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            value = json.loads(line)
            inputs = {n: (w, s) for n, (w, s) in value["inputs"].items()}
            operators = tuple(OperatorState(**o) for o in value.get("operators", ()))
            yield Sample(**{**value, "inputs": inputs, "operators": operators})
