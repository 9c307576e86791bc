"""Make the rows of ANALYZE WATERMARK: what each delay would lose and cost, of each partition and in total."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from sqlext.watermarks.advice.alignment import Aligned
from sqlext.watermarks.advice.arrivals import Flags, Ints
from sqlext.watermarks.advice.delays import chosen_delays
from sqlext.watermarks.advice.lateness import ALWAYS, Lateness
from sqlext.watermarks.texts import duration, moment

#: Of a share; below that nobody decides by it.
_DIGITS = 6
#: ms of a wait from which on it is told in seconds.
_LONG = 1_000
#: Wrong windows that are named.
_WINDOWS = 10
#: Steps of a curve that are drawn.
_POINTS = 100
COLUMNS = (
    "partition",
    "delay",
    "declared",
    "rows",
    "late rows",
    "late share",
    "windows",
    "wrong windows",
    "wait",
    "rows open",
    "windows open",
    "longest gap",
    "rows ahead",
)


@dataclass(frozen=True)
class Advice:
    """What is found out about the rows of a table.

    Attributes:
        lateness: how late they are.
        declared: the delay that is declared, or simulated; None if it is none.
        delays: those that are asked for; none: they are chosen.
        most: how many partitions are shown.
    """

    lateness: Lateness
    declared: int | None = None
    delays: tuple[int, ...] = ()
    most: int = 10

    @property
    def looked_at(self) -> tuple[int, ...]:
        """The delays that are looked at, the least first."""
        chosen = self.delays or chosen_delays(self.lateness.lag, self.lateness.arrivals.rows, ALWAYS)
        declared = () if self.declared is None else (self.declared,)
        return tuple(sorted({*chosen, *declared}))

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each delay: of all partitions, whose name is NULL, then of each, the latest first."""
        found = [self._counted(delay) for delay in self.looked_at]
        if not found:
            return []
        total = [row for rows in found for row in rows[:1]]
        return [*total, *(rows[1 + n] for n in self._shown() for rows in found)]

    def curve(self) -> dict[str | None, list[tuple[int, float]]]:
        """Return the share of late rows over the delay (ms), of all partitions (None) and of each that is shown."""
        arrivals, labels = self.lateness.arrivals, self.lateness.arrivals.labels
        shown: dict[str | None, Flags] = {None: np.ones(len(arrivals.rows), np.bool_)}
        shown |= {_text(labels[n]): arrivals.partition == n for n in self._shown()}
        return {label: self._falling(which) for label, which in shown.items()}

    def _falling(self, which: Flags) -> list[tuple[int, float]]:
        """Return the curve of some entries: at each delay that is looked at, and where it falls between them."""
        lag, rows = self.lateness.lag[which], self.lateness.arrivals.rows[which]
        known = np.unique(lag[(lag >= 0) & (lag < ALWAYS)])
        steps = known[np.unique(np.linspace(0, len(known) - 1, _POINTS).astype(int))] if len(known) else known
        # A row is late with the delay that is its lag, and no longer with the next one.
        delays = sorted({0, *self.looked_at, *steps.tolist(), *(steps + 1).tolist()})
        return [(delay, _share(int(rows[lag >= delay].sum()), int(rows.sum()))) for delay in delays]

    def summary(self) -> str:
        """Return in a line what each delay would lose."""
        total = int(self.lateness.arrivals.rows.sum())
        if not total:
            return "There are no rows with an event time."
        lost = ((d, _share(int(self.lateness.rows(self.lateness.late(d)).sum()), total)) for d in self.looked_at)
        shown = (f"{duration(d) if d else '0 s'} {100 * share:.3g} %" for d, share in lost)
        return f"Late rows: {', '.join(shown)}."

    def wrong_windows(self) -> Iterator[str]:
        """Yield which windows would be wrong with the declared delay, those that miss most rows first."""
        windows = self.lateness.windows
        if windows is None or self.declared is None:
            return
        found, every = self.lateness.wrong_windows(self.declared), self.lateness.windows_of()[0]
        delay = duration(self.declared) if self.declared else "0 s"
        if not found:
            yield f"With a delay of {delay} no window would be wrong."
            return
        zone = windows.zone or "UTC"
        shown = (f"until {moment(end, zone)}, {lost:,} of {rows:,}" for end, lost, rows in found[:_WINDOWS])
        most = " that miss most" if len(found) > _WINDOWS else ""
        yield (
            f"With a delay of {delay}, {len(found):,} of {every:,} windows would miss rows."
            f" Those{most}: {'; '.join(shown)}."
        )

    def warnings(self) -> Iterator[str]:
        """Yield what the numbers do not say of themselves."""
        lateness = self.lateness
        arrivals = lateness.arrivals
        if 0 < arrivals.batches <= lateness.assumed.behind:
            yield "All rows come in so few micro-batches that no row can be late: nothing is known of their lateness."
        ahead = int(arrivals.rows[arrivals.ahead].sum())
        if ahead and not lateness.assumed.leaves_out:
            yield (
                f"{ahead:,} row{'s lie' if ahead > 1 else ' lies'} ahead of the clock, and can move the watermark:"
                " 'sqlext.watermark.max-future' leaves such rows out."
            )
        if arrivals.nulls:
            yield f"{arrivals.nulls:,} row{'s have' if arrivals.nulls > 1 else ' has'} no event time."
        if len(arrivals.labels) > self.most:
            yield f"Shown are {self.most} of {len(arrivals.labels):,} partitions: those with most late rows."

    def _shown(self) -> Sequence[int]:
        """Return the partitions that are shown: those that lose most rows with the declared delay, or with none."""
        lost, rows = self.lateness.rows(self.lateness.late(self.declared or 0)), self.lateness.rows()
        # Of equal ones by name: their numbers depend on which of a micro-batch's files is read first.
        ranks = [_rank(label) for label in self.lateness.arrivals.labels]
        shown = sorted(range(len(ranks)), key=lambda n: (-lost[n], -rows[n], ranks[n]))
        # One partition is the total.
        return shown[: self.most] if len(shown) > 1 else []

    def _counted(self, delay: int) -> list[tuple[Any, ...]]:
        """Return the rows of a delay: the total, then the partitions by their numbers."""
        lateness = self.lateness
        late = lateness.late(delay)
        rows, lost = lateness.rows(), lateness.rows(late)
        windows, wrong = lateness.windows_of(), lateness.windows_of(late)
        (all_gaps, gaps), ahead = lateness.gaps, lateness.rows(lateness.arrivals.ahead)
        rows_open, windows_open = lateness.held(delay)
        has_windows = lateness.windows is not None

        def row(label: object, counts: Sequence[int], *costs: object) -> tuple[Any, ...]:
            total, gone, all_windows, wrong_windows, gap, future = counts
            of_windows = (all_windows, wrong_windows) if has_windows else (None, None)
            about = (_interval(gap), future)
            shown = (total, gone, _share(gone, total), *of_windows)
            return (label, _interval(delay), delay == self.declared, *shown, *costs, *about)

        every = (int(rows.sum()), int(lost.sum()), windows[0], wrong[0], all_gaps, int(ahead.sum()))
        costs = (_about(lateness.wait(delay)), rows_open, windows_open if has_windows else None)
        each = zip(*(_plain(c) for c in (rows, lost, windows[1], wrong[1], gaps, ahead)), strict=True)
        named = zip(lateness.arrivals.labels, each, strict=True)
        return [row(None, every, *costs), *(row(_text(label), counts, None, None, None) for label, counts in named)]


def aligned_in_words(before: Lateness, after: Lateness, waited: Aligned, delay: int) -> str:
    """Return what alignment changes with a delay (ms): lateness, waiting and rows that are open or held back.

    Args:
        before: without it.
        after: with it.
        waited: who had to wait.
        delay: the one that is declared, or tried.
    """
    late = (f"{int(x.rows(x.late(delay)).sum()):,}" for x in (before, after))
    wait = (duration(w) if (w := x.wait(delay)) else "0 s" if w == 0 else "unknown" for x in (before, after))
    rows_open = (f"{x.held(delay)[0]:,}" for x in (before, after))
    left = f" {waited.left:,} still wait at the end, and are not counted as rows." if waited.left else ""
    return (
        f"Alignment within {duration(after.assumed.drift) if after.assumed.drift else '0 s'}, with a delay of"
        f" {duration(delay) if delay else '0 s'}: {waited.later:,} row{'s are' if waited.later != 1 else ' is'} read"
        f" later, of {waited.partitions:,} of {len(before.arrivals.labels):,} partitions;"
        f" at most {waited.most:,} rows wait at once.{left} Late rows: {' -> '.join(late)}."
        f" Wait: {' -> '.join(wait)}. Rows open: {' -> '.join(rows_open)}."
    )


def _plain(numbers: Ints) -> list[int]:
    found: list[int] = numbers.tolist()
    return found


def _share(part: int, whole: int) -> float:
    return round(part / whole, _DIGITS) if whole else 0.0


def _interval(ms: int | None) -> timedelta | None:
    return None if ms is None else timedelta(milliseconds=ms)


def _about(ms: int | None) -> timedelta | None:
    """Return an average, without milliseconds that say nothing."""
    return None if ms is None else timedelta(seconds=round(ms / 1000)) if ms >= _LONG else timedelta(milliseconds=ms)


def _rank(label: object) -> tuple[int, int | float | Decimal, str]:
    """Return what sorts labels: numbers by their value, others by their text, NULL last."""
    if isinstance(label, int | float | Decimal):
        return 0, label, ""
    return (2, 0, "") if label is None else (1, 0, str(label))


def _text(label: object) -> str:
    return "NULL" if label is None else str(label)
