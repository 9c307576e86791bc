"""Record how a query goes, for whoever looks from another process: its plan, samples of its counts, why it failed.

Below the query's folder, where they outlive a restart:

progress/plan.json       the query as it was started last
progress/history.jsonl   how it went (``watermarks.history``)
progress/end.json        why it failed, if it did
progress/stop            somebody wants it to stop
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError
from sqlext.plan.steps import PlanStep
from sqlext.spark.notices import Notice
from sqlext.watermarks.fit import misfit
from sqlext.watermarks.history import History, Sample

if TYPE_CHECKING:
    from sqlext.jobs.progress import Progress
    from sqlext.stores.location import Location
    from sqlext.watermarks.report import TimeReport

_PLAN, _END, _STOP = "plan.json", "end.json", "stop"
#: Seconds between two questions to an object store whether somebody wants the query to stop.
_PATIENCE = 15.0


@dataclass(frozen=True, slots=True)
class Outline:
    """A query as it was started.

    Attributes:
        bounded: whether its input has an end.
        steps: those of its plan.
        began: when it was started last, in ms since 1970 UTC.
    """

    bounded: bool
    steps: tuple[PlanStep, ...]
    began: int

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"bounded": self.bounded, "steps": [s.to_json() for s in self.steps], "began": self.began}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Outline:
        """Return what ``to_json`` gave."""
        return Outline(value["bounded"], tuple(map(PlanStep.from_json, value["steps"])), value["began"])


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a query failed, as a ``SqlExtError`` says it."""

    code: str
    message: str
    hint: str | None
    line: int | None

    @staticmethod
    def of(error: SqlExtError) -> Failure:
        """Return what a refusal says."""
        return Failure(error.code, error.message, error.hint, error.line)


class LateRowsNotice(Notice):
    """What arrives no longer fits the declared watermark."""


class Recorder:
    """Records one query of a job, and warns once if many of its rows are late.

    Args:
        name: the query's.
        place: ``QueryHome.progress``.
        bounded: whether its input has an end.
        steps: those of its plan.

    Attributes:
        outline: the query as it was started.
        history: how it went.
    """

    def __init__(self, name: str, place: Location, bounded: bool, steps: tuple[PlanStep, ...]) -> None:
        self._name = name
        self._place = place
        self.outline = Outline(bounded, steps, _now())
        self.history = History(place)
        self._asked = time.monotonic()
        self._warned = False

    def begin(self) -> None:
        """Say how it begins; what made it fail before is forgotten."""
        self._place.put(_PLAN, json.dumps(self.outline.to_json()))
        for key in (_END, _STOP):
            self._place.store.delete(key)

    def look(self, progress: Progress, report: TimeReport | None) -> None:
        """Take a sample of what a query has counted, and of what its time keeper knows."""
        found = progress.details()
        more = {"spent": found.spent, "read": found.read, "operators": found.operators}
        with _unimportant():
            self.history.take(Sample.of(_now(), report, progress.values(), began=self.outline.began, **more))
            self._warn_of_late_rows()

    def is_to_stop(self) -> bool:
        """Whether somebody wants the query to stop, as ``ask_to_stop`` says."""
        if self._place.path is None:
            if time.monotonic() - self._asked < _PATIENCE:
                return False
            self._asked = time.monotonic()
        with _unimportant():
            return self._place.text(_STOP) is not None
        return False

    def end(self, error: SqlExtError | None) -> None:
        """Say how it ended, after the last look."""
        with _unimportant():
            self.history.flush()
            if error is not None:
                self._place.put(_END, json.dumps(asdict(Failure.of(error))))

    def _warn_of_late_rows(self) -> None:
        samples = self.history.samples()
        found = misfit(samples, samples[-1].at) if samples and not self._warned else None
        if found is not None:
            self._warned = True
            warnings.warn(f"query `{self._name}`: {found}", LateRowsNotice, stacklevel=2)


def read_outline(place: Location) -> Outline | None:
    """Return what a recorder wrote into a query's folder ``progress``; None if none did, or another version's."""
    try:
        found = place.json(_PLAN)
        return Outline.from_json(found) if found is not None else None
    except (ValueError, KeyError, TypeError):
        return None


def read_failure(place: Location) -> Failure | None:
    """Return why a query failed that ran last in that folder; None if it did not."""
    try:
        found = place.json(_END)
        return Failure(**found) if found is not None else None
    except (ValueError, TypeError):
        return None


def ask_to_stop(place: Location) -> None:
    """Ask the driver of a query to stop it: it looks each second, in an object store each quarter of a minute."""
    place.put(_STOP, "")


def _unimportant() -> AbstractContextManager[None]:
    """Return a block whose failures no query fails by: a disk is full, a store does not answer."""
    return suppress(OSError, SqlExtError)


def _now() -> int:
    return time.time_ns() // 1_000_000
