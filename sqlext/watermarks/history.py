"""Keep samples of a query's watermarks in a file of its time folder, for the page that shows them."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlext.stores.location import Location
from sqlext.watermarks.report import InputReport, TimeReport

#: Samples kept; an older one goes when a newer one comes.
MOST = 1000
#: ms between two samples: one is taken when something has changed, and at most two within this time.
_SPACING = 1000
#: ms between two times that a file is written whole which cannot grow.
_REWRITES = 30_000
_FILE = "history.jsonl"


@dataclass(frozen=True, slots=True)
class Sample:
    """A query at one moment; times in ms since 1970 UTC, counts since it was started.

    Attributes:
        at: the moment, by the keeper's clock; two samples that differ in it alone are the same.
        watermark: the query's.
        inputs: of each input its watermark, and ``idle``, ``held``, ``ended`` or ``active``.
        open: windows and groups open.
    """

    at: int = field(compare=False)
    watermark: int | None
    inputs: Mapping[str, tuple[int | None, str]]
    open: int
    rows_in: int
    rows_out: int
    rows_late: int
    rows_dropped: int

    @staticmethod
    def of(report: TimeReport, progress: Mapping[str, Any]) -> Sample:
        """Return what a keeper and a query's progress say now."""
        inputs = {i.name: (i.watermark, _state(i)) for i in report.inputs}
        counts = {name: progress[name] for name in ("rows_in", "rows_out", "rows_late", "rows_dropped")}
        return Sample(report.at, report.watermark, inputs, progress["state_rows"], **counts)


def _state(known: InputReport) -> str:
    if known.ended:
        return "ended"
    if known.idle:
        return "idle"
    return "held" if any(s.held for s in known.splits) else "active"


class History:
    """The last samples of a query, in a file that goes on after a restart.

    A file of this machine gets line after line. An object can only be written whole, so it is written rarely.

    Args:
        place: ``QueryHome.time``.
    """

    def __init__(self, place: Location) -> None:
        self._place = place
        self._kept = deque(samples(place), maxlen=MOST)
        self._lines = len(self._kept)
        self._last: Sample | None = None
        self._waiting: Sample | None = None
        self._saved = 0
        # The keeper's thread writes, and a page is asked for in another.
        self._lock = threading.Lock()

    def take(self, sample: Sample) -> None:
        """Take a sample; it is written when it says something new and the last one is old enough."""
        with self._lock:
            if self._last is not None and sample.at - self._last.at < _SPACING:
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
        """Return the last samples, oldest first, and the one that waits to be written."""
        with self._lock:
            return [*self._kept, *([self._waiting] if self._waiting is not None else [])]

    def _write(self, sample: Sample) -> None:
        if sample == self._last:
            return
        self._last = sample
        self._kept.append(sample)
        path = self._place.path
        if path is not None:
            self._append(path / _FILE, sample)
        elif sample.at - self._saved >= _REWRITES:
            self._saved = sample.at
            self._rewrite()

    def _append(self, file: Path, sample: Sample) -> None:
        # Not at MOST: then each sample would write the whole file anew.
        if self._lines >= 2 * MOST:
            self._rewrite()
            return
        with suppress(FileNotFoundError):  # the folder of a SELECT goes when it ends
            with file.open("a", encoding="utf-8") as stream:
                stream.write(_line(sample))
            self._lines += 1

    def _rewrite(self) -> None:
        # In one step: a reader in another process sees the old file or the new one.
        self._place.put(_FILE, "".join(map(_line, self._kept)))
        self._lines = len(self._kept)


def samples(place: Location) -> list[Sample]:
    """Return the last samples in a query's folder ``time``, oldest first; lines that a kill cut off are left out."""
    return list(deque(_read((place.text(_FILE) or "").splitlines()), maxlen=MOST))


def _line(sample: Sample) -> str:
    return json.dumps(asdict(sample)) + "\n"


def _read(lines: Iterable[str]) -> Iterator[Sample]:
    for line in lines:
        with suppress(json.JSONDecodeError):
            value = json.loads(line)
            yield Sample(**{**value, "inputs": {n: (w, s) for n, (w, s) in value["inputs"].items()}})
