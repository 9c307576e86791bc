"""Say which windows are open, and when they will close."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.session.monitor.views import WindowView
from sqlext.watermarks.history import Sample
from sqlext.watermarks.inputs import END_OF_TIME
from sqlext.watermarks.report import TimeReport

#: ms of which the pace of a watermark is the mean.
_PACE = 60_000


def windows_of(report: TimeReport, samples: Sequence[Sample], now: int) -> list[WindowView]:
    """Return the windows that end next, first ones first.

    Args:
        samples: how the query went, oldest first: what the pace of its watermark is taken from.
        now: ms since 1970 UTC.
    """
    pace = _pace(samples, now)
    return [
        WindowView(
            end,
            {i.name: end + i.delay for i in report.inputs if not i.ended},
            _expected(report, end, pace, now),
            report.closes_at + end - report.end if report.closes_at is not None and report.end is not None else None,
        )
        for end in report.ends
    ]


def _expected(report: TimeReport, end: int, pace: float, now: int) -> int | None:
    if report.watermark is None or pace <= 0:
        return None
    return now + max(0, round((end - report.watermark) / pace))


def _pace(samples: Sequence[Sample], now: int) -> float:
    """Return by how many ms a watermark has moved in a ms, of late."""
    late = [s for s in samples if s.watermark is not None and s.watermark < END_OF_TIME and s.at >= now - _PACE]
    if not late or late[-1].began != late[0].began:
        return 0.0
    first, last = late[0], late[-1]
    assert first.watermark is not None
    assert last.watermark is not None
    return (last.watermark - first.watermark) / (now - first.at) if now > first.at else 0.0
