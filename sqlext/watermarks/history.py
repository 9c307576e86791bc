"""Keep samples of a query's watermarks in a file of its time folder, for the page that shows them."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlext.watermarks.report import InputReport, TimeReport

#: Samples kept; an older one goes when a newer one comes.
MOST = 1000
#: ms between two samples: one is taken when something has changed, and at most two within this time.
_SPACING = 1000
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

    Args:
        folder: ``QueryHome.time``; it is there.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._lines = sum(1 for _ in samples(folder))
        self._last: Sample | None = None
        self._waiting: Sample | None = None
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

    def _flush(self) -> None:
        if self._waiting is not None:
            self._write(self._waiting)
            self._waiting = None

    def samples(self) -> list[Sample]:
        """Return the last samples, oldest first, and the one that waits to be written."""
        with self._lock:
            return [*samples(self._path.parent), *([self._waiting] if self._waiting is not None else [])]

    def _write(self, sample: Sample) -> None:
        if sample == self._last:
            return
        self._last = sample
        # Not at MOST: then each sample would write the whole file anew.
        if self._lines >= 2 * MOST:
            self._shorten()
        with suppress(FileNotFoundError):  # the folder of a SELECT goes when it ends
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(sample)) + "\n")
            self._lines += 1

    def _shorten(self) -> None:
        kept = samples(self._path.parent)
        temporary = self._path.with_name(f".{_FILE}.tmp")
        temporary.write_text("".join(json.dumps(asdict(s)) + "\n" for s in kept), encoding="utf-8")
        # By a rename: a reader in another process sees the old file or the new one.
        temporary.replace(self._path)
        self._lines = len(kept)


def samples(folder: Path) -> list[Sample]:
    """Return the last samples of a query's folder ``time``, oldest first; lines that a kill cut off are left out."""
    try:
        with (folder / _FILE).open(encoding="utf-8") as file:
            return list(deque(_read(file), maxlen=MOST))
    except FileNotFoundError:
        return []


def _read(lines: Iterator[str]) -> Iterator[Sample]:
    for line in lines:
        with suppress(json.JSONDecodeError):
            value = json.loads(line)
            yield Sample(**{**value, "inputs": {n: (w, s) for n, (w, s) in value["inputs"].items()}})
