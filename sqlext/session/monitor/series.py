"""Turn samples of counts into what happened between them: rows a second, time of a micro-batch, late rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from sqlext.session.monitor.views import Series
from sqlext.watermarks.history import DENSE, SPACING, SPARSE, Sample
from sqlext.watermarks.inputs import END_OF_TIME

#: ms after which nothing has happened if no sample was taken. Micro-batches may well be half a minute apart.
_SILENCE = 60_000
#: ms of which a rate is the mean.
_OF_LATE = 30_000


@dataclass(frozen=True, slots=True)
class _Step:
    """What has happened between two samples, in so many ms; 0: nobody knows yet.

    At a moment at which it did not ``run`` there is nothing to say.
    """

    sample: Sample
    ms: int
    run: bool = True
    rows_in: int = 0
    rows_out: int = 0
    late: int = 0
    dropped: int = 0
    bad: int = 0

    def a_second(self, rows: int) -> float | None:
        return round(1000 * rows / self.ms, 2) if self.ms > 0 else None


def series(samples: Sequence[Sample], since: int = 0, now: int | None = None) -> Series:
    """Return what happened between samples.

    Args:
        samples: oldest first.
        since: moments up to this one are left out.
        now: the present moment, where the query runs: nothing has happened since the last sample.
    """
    steps = [s for s in _steps(samples, now) if s[1].sample.at > since]
    after = [step for _, step in steps]
    parts = sorted({part for step in after for part in step.sample.spent})
    return Series(
        at=[s.sample.at for s in after],
        watermark=[_known(s.sample.watermark) for s in after],
        lag=[lag(s.sample.watermark, s.sample.at) for s in after],
        rows_in=[s.a_second(s.rows_in) for s in after],
        rows_out=[s.a_second(s.rows_out) for s in after],
        batch_ms=[_mean(before, s.sample, lambda c: c.busy_ms) for before, s in steps],
        parts={part: [_mean(before, s.sample, partial(_spent, part)) for before, s in steps] for part in parts},
        state_rows=[s.sample.open if s.run else None for s in after],
        state_bytes=[s.sample.state_bytes if s.run else None for s in after],
        late=[s.late for s in after],
        dropped=[s.dropped for s in after],
        bad=[s.bad for s in after],
        ran=[s.run for s in after],
    )


def rate(samples: Sequence[Sample], now: int) -> float:
    """Return the rows read in a second, of the last half minute."""
    if not samples:
        return 0.0
    last = samples[-1]
    run = [s for s in samples[-_MOST_OF_LATE:] if s.began == last.began]
    before = next((s for s in reversed(run) if s.at <= now - _OF_LATE), run[0])
    ms = now - before.at
    return round(1000 * (last.rows_in - before.rows_in) / ms, 1) if ms > 0 else 0.0


#: More samples than this do not lie within that time and one before.
_MOST_OF_LATE = 2 * _OF_LATE // SPACING + 2


def lag(watermark: int | None, now: int) -> int | None:
    """Return how far a watermark is behind the clock; None for none, and for that of the end of time."""
    known = _known(watermark)
    return max(0, now - known) if known is not None else None


def _known(watermark: int | None) -> int | None:
    return None if watermark is None or watermark >= END_OF_TIME else watermark


def _steps(samples: Sequence[Sample], now: int | None) -> Iterator[tuple[Sample, _Step]]:
    """Yield the sample before, and what has happened since; where nothing has for long, two moments say so."""
    if not samples:
        return
    newest, first = samples[-1].at, samples[0]
    if first.began is not None and newest - first.at <= DENSE:
        yield _NOTHING, _between(_NOTHING, first)
    for before, after in pairwise(samples):
        silence, spacing = (_SILENCE, SPACING) if newest - before.at <= DENSE else (3 * SPARSE, SPARSE)
        begins = before
        if before.began != after.began:
            yield from ((before, _Step(s, 0, run=False)) for s in _pause(before, after, spacing))
        elif after.at - before.at > silence:
            took = min(max(spacing, after.busy_ms - before.busy_ms), silence)
            quiet = replace(before, at=before.at + spacing), replace(before, at=after.at - took)
            yield from ((before, _Step(s, spacing)) for s in quiet)
            begins = quiet[1]
        yield before, _between(begins, after)
    if now is not None and now > newest:
        last = samples[-1]
        if now - newest > _SILENCE:
            yield last, _Step(replace(last, at=newest + SPACING), SPACING)
        yield last, _Step(replace(last, at=now), SPACING if now - newest > _SILENCE else 0)


def _pause(before: Sample, after: Sample, spacing: int) -> Iterator[Sample]:
    """Yield the first and the last moment at which nothing ran, between two samples."""
    last = max(before.at + 1, min(after.began or after.at, after.at) - 1)
    for at in sorted({min(before.at + spacing, last), last}):
        yield replace(before, at=at, watermark=None)


def _between(before: Sample, after: Sample) -> _Step:
    zero, since = before, before.at
    if before.began != after.began:  # a restart counts from 0
        zero, since = _NOTHING, after.began or before.at
    return _Step(
        after,
        after.at - since,
        rows_in=after.rows_in - zero.rows_in,
        rows_out=after.rows_out - zero.rows_out,
        late=after.rows_late - zero.rows_late,
        dropped=after.rows_dropped - zero.rows_dropped,
        bad=after.rows_bad - zero.rows_bad,
    )


_NOTHING = Sample(0, None, {}, 0, 0, 0, 0, 0)


def _spent(part: str, sample: Sample) -> int:
    return sample.spent.get(part, 0)


def _mean(before: Sample, after: Sample, spent: Callable[[Sample], int]) -> float | None:
    """Return the mean time of the micro-batches between two samples; None where there was none."""
    zero = before if before.began == after.began else _NOTHING
    batches = after.batch - zero.batch
    return round((spent(after) - spent(zero)) / batches, 1) if batches > 0 else None
