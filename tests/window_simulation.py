"""The window engine with a caller that keeps lists of values: what comes out of each step, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.table_codec import decode_state, encode_state
from sqlext_udfs.windows.groups.engine import WindowEngine
from sqlext_udfs.windows.groups.state import WindowState
from sqlext_udfs.windows.panes.rows import TIMINGS, ElementRows, PaneDecisions
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers.moment import MAX, MIN


@dataclass(frozen=True)
class Row:
    """A row: its key, value and event time; ``numbers`` are what triggers and evictors look at."""

    key: str
    value: Any
    ts: int | None = None
    numbers: tuple[float, ...] = ()
    gap: int | None = None


@dataclass(frozen=True)
class Pane:
    """A pane with its values; ``window`` is (start, end), None without window."""

    key: str
    window: tuple[int, int] | None
    values: tuple[Any, ...]
    index: int
    spec: int
    timing: str
    first: bool
    last: bool
    timestamp: int | None
    before: bool
    retract: bool = False


@dataclass
class Step:
    """What one step gave."""

    panes: list[Pane]
    late: list[Row]
    closed: list[Row]
    late_windows: int
    closed_windows: int
    decisions: PaneDecisions


@dataclass
class Simulation:
    """Runs a policy step by step; with ``saved`` the state goes through bytes after each."""

    policy: Policy
    hooks: dict[str, Any] = field(default_factory=dict)
    saved: bool = True

    def __post_init__(self) -> None:
        self.engine = WindowEngine(self.policy, **self.hooks)
        self.state = self.engine.empty()
        self.keys: dict[str, int] = {}
        self.stored: dict[int, tuple[Any, ...]] = {}
        self.now = 0
        self.watermark = MIN

    def rows(self, *rows: Row) -> Step:
        """Bring rows; clock and watermark stand."""
        return self.step(rows)

    def to_watermark(self, watermark: int) -> Step:
        """Move the watermark on, without rows."""
        return self.step((), watermark=watermark)

    def to_clock(self, now: int) -> Step:
        """Move the batch clock on, without rows."""
        return self.step((), now=now)

    def end(self) -> Step:
        """Come to the end of input."""
        return self.step((), watermark=Clock.END)

    def step(self, rows: Iterable[Row], watermark: int | None = None, now: int | None = None) -> Step:
        """Do a step: rows are late by the watermark of the one before."""
        before, self.now = self.watermark, self.now if now is None else now
        self.watermark = self.watermark if watermark is None else watermark
        brought = list(rows)
        decisions = self.engine.step(
            self.state, self._rows(brought), Clock(_time(self.watermark), _time(before), self.now)
        )
        return self._taken(brought, decisions)

    def _rows(self, rows: Sequence[Row]) -> ElementRows:
        def column(values: list[int | None]) -> Any:
            return None if None in values else np.array(values, np.int64)

        width = max((len(r.numbers) for r in rows), default=0)
        return ElementRows(
            np.array([self.keys.setdefault(r.key, len(self.keys)) for r in rows], np.int64),
            column([r.ts for r in rows]),
            values=tuple(np.array([r.numbers[i] for r in rows], np.float64) for i in range(width)),
            gap=column([r.gap for r in rows]),
        )

    def _taken(self, rows: list[Row], decisions: PaneDecisions) -> Step:
        contents = dict(self.stored)
        for element, segment in zip(decisions.elements.tolist(), decisions.segments.tolist(), strict=True):
            contents[segment] = (*contents.get(segment, ()), rows[element].value)
        panes = [self._pane(decisions, i, contents) for i in range(len(decisions.panes))]
        self._keep(decisions, contents)
        late, closed = ([rows[i] for i in where.tolist()] for where in (decisions.late, decisions.closed))
        return Step(panes, late, closed, len(decisions.late_windows), len(decisions.closed_windows), decisions)

    def _pane(self, decisions: PaneDecisions, i: int, contents: dict[int, tuple[Any, ...]]) -> Pane:
        panes = decisions.panes
        names = list(self.keys)
        window = None if panes.end[i] == MAX else (panes.start[i], panes.end[i])
        values = tuple(v for s in panes.contents(i) for v in contents[s])
        return Pane(
            names[panes.key[i]],
            window,
            values,
            panes.index[i],
            panes.non_speculative_index[i],
            TIMINGS[panes.timing[i]],
            panes.is_first[i],
            panes.is_last[i],
            panes.timestamp[i],
            panes.written_before[i],
            panes.retract[i],
        )

    def _keep(self, decisions: PaneDecisions, contents: dict[int, tuple[Any, ...]]) -> None:
        for segment in decisions.freed:
            del self.stored[segment]
        for kept, sources in zip(decisions.kept, decisions.kept_from, strict=True):
            assert kept not in self.stored
            self.stored[kept] = tuple(v for s in sources for v in contents[s])
        self.state = _through_bytes(decisions.state) if self.saved else decisions.state
        assert sorted(self.stored) == sorted(self.state.segments())


def _time(watermark: int) -> int | None:
    return None if watermark == MIN else watermark


def _through_bytes(state: WindowState) -> WindowState:
    table: pa.Table = decode_state(encode_state(state.encode()))
    return WindowState.decode(table)
