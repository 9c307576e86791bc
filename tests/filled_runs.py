"""The operator of filled windows driven by Python rows, and what should come out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.filling.operator import FilledWindows
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.specification import WindowSpecification
from tests.operator_runs import TYPES, Row, table


class Pane(NamedTuple):
    """A pane: its key, its window, what is computed, and whether the window had rows."""

    key: str | None
    window: tuple[int, int]
    results: tuple[Any, ...]
    filled: bool


class FilledRun:
    """Runs the operator, with its state through bytes after each step.

    Args:
        of: what is computed.
        filling: which windows come out.
    """

    def __init__(self, of: WindowSpecification, filling: Filling) -> None:
        self.results = len(of.aggregates)
        self.operator = FilledWindows(WindowOperator(of, TYPES), filling, of, TYPES)
        self.saved = self.operator.encode(self.operator.empty())
        self.watermark: int | None = None
        self.keys = 0

    def step(self, rows: Sequence[Row] = (), watermark: int | None = None) -> list[Pane]:
        """Do a micro-batch; the watermark stands where it is not given."""
        before, self.watermark = self.watermark, self.watermark if watermark is None else watermark
        state = self.operator.decode(self.saved)
        came = None
        if rows:
            parts = self.operator.partial(table(rows))
            came = self.operator.gathered([parts.remove_column(parts.num_columns - 1)])
        step = self.operator.step(state, came, Clock(self.watermark, before, 0))
        self.saved = self.operator.encode(step.state)
        self.keys = step.state.keys.num_rows
        return [self._pane(list(r.values())) for r in step.out.to_pylist()] if step.out.num_columns else []

    def end(self) -> list[Pane]:
        """Come to the end of the input."""
        return self.step(watermark=Clock.END)

    def due(self) -> int | None:
        """Return the watermark at which the operator wants to be called."""
        return self.operator.next_wakeup(self.operator.decode(self.saved)).event

    def _pane(self, values: list[Any]) -> Pane:
        key, start, end, *others = values
        results, timing = others[: self.results], others[self.results + 2]
        if timing != "FILLED":
            return Pane(key, (start, end), tuple(results), False)
        # With ``joins`` the next results and the weight stand behind all other columns.
        more = others[self.results + 9 :]
        return Pane(key, (start, end), (*results, *more), True)


@dataclass(frozen=True)
class Expected:
    """What should come out: a window without rows where one with rows is at most ``most`` windows before it.

    Attributes:
        size, step: of the windows, which begin at the multiples of the step.
        most: how many windows are filled behind one with rows.
    """

    size: int
    step: int
    most: int

    def filled(self, panes: Iterable[Pane]) -> dict[tuple[str | None, tuple[int, int]], tuple[Any, ...]]:
        """Return key and window of those without rows, with the results of the last window with rows."""
        rows: dict[str | None, dict[int, tuple[Any, ...]]] = {}
        for pane in panes:
            rows.setdefault(pane.key, {})[pane.window[0] // self.step] = pane.results
        made = {}
        for key, windows in rows.items():
            for number, results in windows.items():
                for n in range(number + 1, number + self.most + 1):
                    if n in windows:
                        break
                    made[key, (n * self.step, n * self.step + self.size)] = results
        return made


def by_window(panes: Iterable[Pane]) -> Mapping[tuple[str | None, tuple[int, int]], tuple[Any, ...]]:
    """Return the results of panes, by key and window."""
    return {(p.key, p.window): p.results for p in panes}
