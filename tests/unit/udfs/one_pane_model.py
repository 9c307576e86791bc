"""Windows of one pane in plain Python, row by row and window by window: the second opinion on the columnar engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.horizon import single_pane_horizon
from sqlext_udfs.windows.policy import Cumulate, Hop, Policy, Session, Tumble
from tests.operator_runs import Row

Window = tuple[int, int]


@dataclass
class Model:
    """Keeps all rows of each key and window.

    Attributes:
        open: the rows of windows that are not over.
        dropped: how many rows were late.
    """

    policy: Policy
    open: dict[tuple[str | None, Window], list[Row]] = field(default_factory=dict)
    dropped: int = 0

    def step(self, rows: Sequence[Row], watermark: int | None, before: int | None) -> set[tuple[object, ...]]:
        """Return key, window and values of each pane of a micro-batch."""
        late, over = (self._limit(w) for w in (before, watermark))
        if isinstance(self.policy.window, Session):
            self._sessions(rows, late)
        else:
            for row in rows:
                windows = list(self._windows(row))
                taken = [w for w in windows if w[1] > late]
                self.dropped += bool(windows) and not taken
                for window in taken:
                    self.open.setdefault((row.key, window), []).append(row)
        due = [at for at in self.open if at[1][1] <= over]
        return {(*at, tuple(r.value for r in self.open.pop(at))) for at in due}

    def _limit(self, watermark: int | None) -> float:
        horizon = single_pane_horizon(self.policy)
        assert horizon is not None
        if watermark is None:
            return float("-inf")
        return float("inf") if watermark == Clock.END else watermark - horizon.delay

    def _windows(self, row: Row) -> Iterator[Window]:
        of = self.policy.window
        if row.window is not None:
            yield row.window
        elif isinstance(of, Tumble | Hop):
            slide = of.size if isinstance(of, Tumble) else of.slide
            for start in range(row.ts - of.size + 1, row.ts + 1):
                if (start - of.offset) % slide == 0:
                    yield start, start + of.size
        elif isinstance(of, Cumulate):
            start = next(s for s in range(row.ts, row.ts - of.size, -1) if (s - of.offset) % of.size == 0)
            for end in range(start + of.step, start + of.size + 1, of.step):
                if end > row.ts:
                    yield start, end

    def _sessions(self, rows: Sequence[Row], late: float) -> None:
        of, options = self.policy.window, self.policy.options
        assert isinstance(of, Session)
        groups = [(key, window, list(held), True) for (key, window), held in self.open.items()]
        for row in rows:
            window = row.ts, row.ts + (of.gap or row.gap or 0)
            if options.late_check == "before_merge" and window[1] <= late:
                self.dropped += 1
                continue
            joins = [g for g in groups if g[0] == row.key and _touch(g[1], window, options.session_gap)]
            groups = [g for g in groups if g not in joins]
            bounds = [window, *(g[1] for g in joins)]
            held = [r for g in joins for r in g[2]]
            groups.append((row.key, (min(b[0] for b in bounds), max(b[1] for b in bounds)), [*held, row], False))
        self.open = {}
        for key, window, held, _ in groups:
            if window[1] <= late:
                self.dropped += len(held)
            else:
                self.open[key, window] = held


def _touch(one: Window, other: Window, gap: str) -> bool:
    if gap == "inclusive":
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]
