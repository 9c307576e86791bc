"""The window operator driven by Python rows: what comes out of each micro-batch, with its state through bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.operator import Clock, StepResult
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.specification import WindowSpecification, output_types

#: The input: key, rowtime, value, gap, two numbers for triggers, the window of a row that has one, the row itself.
ROW = pa.struct([("key", pa.string()), ("value", pa.int64()), ("ts", pa.int64())])
TYPES = [pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.float64(), pa.float64(), pa.int64(), pa.int64(), ROW]
KEY, TIME, VALUE, GAP, NUMBER, OTHER_NUMBER, START, END, ORIGINAL = range(len(TYPES))


class Row(NamedTuple):
    """A row that goes in; without time 0 stands for it."""

    key: str | None
    value: int | None
    ts: int = 0
    gap: int | None = None
    numbers: tuple[float | None, float | None] = (None, None)
    window: tuple[int, int] | None = None


class Out(NamedTuple):
    """A row that comes out."""

    kind: int
    key: str | None
    window: tuple[int, int] | None
    results: tuple[Any, ...]
    index: int
    spec: int
    timing: str
    first: bool
    last: bool
    timestamp: int | None


class Late(NamedTuple):
    """A row that came too late."""

    key: str | None
    row: dict[str, Any]
    watermark: int | None


def specification(
    policy: Policy, aggregates: Sequence[AggregateCall], *, late: bool = False, given: bool = False, gap: bool = False
) -> WindowSpecification:
    """Return what is computed over the columns above."""
    return WindowSpecification(
        1,
        policy,
        tuple(aggregates),
        time=None if given or policy.processing_time else TIME,
        gap=GAP if gap else None,
        start=START if given else None,
        end=END if given else None,
        values=(NUMBER, OTHER_NUMBER),
        row=ORIGINAL if late else None,
    )


def table(rows: Iterable[Row]) -> pa.Table:
    """Return rows as the adapter would hand them over, with the bucket last."""
    columns = [
        [r.key for r in rows],
        [r.ts for r in rows],
        [r.value for r in rows],
        [r.gap for r in rows],
        *([r.numbers[i] for r in rows] for i in (0, 1)),
        *([None if r.window is None else r.window[i] for r in rows] for i in (0, 1)),
        [{"key": r.key, "value": r.value, "ts": r.ts} for r in rows],
    ]
    arrays = [pa.array(c, t) for c, t in zip(columns, TYPES, strict=True)]
    names = [f"c{i}" for i in range(len(TYPES))]
    return pa.table([*arrays, pa.array([0] * len(columns[0]), pa.int16())], [*names, "bucket"])


@dataclass
class Run:
    """Runs an operator; ``cut`` is how many rows are worked on at once before the shuffle."""

    of: WindowSpecification
    least: int = 1
    cut: int = 1 << 18
    hooks: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.operator = WindowOperator(self.of, TYPES, **self.hooks, least=self.least)
        self.saved = self.operator.encode(self.operator.empty())
        self.watermark: int | None = None
        self.now = 0
        self.late: list[Late] = []
        self.dropped_late = self.dropped_closed = self.open_groups = 0
        self.types = output_types(self.of, TYPES)

    def step(self, rows: Sequence[Row] = (), watermark: int | None = None, now: int | None = None) -> list[Out]:
        """Do a micro-batch; the watermark and the clock stand where they are not given."""
        before, self.watermark = self.watermark, self.watermark if watermark is None else watermark
        self.now = self.now if now is None else now
        state = self.operator.decode(self.saved)
        step = self.operator.step(state, self._arrived(rows), Clock(self.watermark, before, self.now))
        self.saved = self.operator.encode(step.state)
        self._count(step)
        return self._out(step.out)

    def wakeup(self) -> Any:
        """Return when the operator wants to be called."""
        return self.operator.next_wakeup(self.operator.decode(self.saved))

    def _arrived(self, rows: Sequence[Row]) -> pa.Table | None:
        """Return rows after partial work, some of it done twice."""
        if not rows:
            return None
        parts = [self.operator.partial(table(rows[i : i + self.cut])) for i in range(0, len(rows), self.cut)]
        if len(parts) > 1:
            parts = [self.operator.partial(pa.concat_tables(parts[:2])), *parts[2:]]
        together = pa.concat_tables(parts)
        return together.remove_column(together.num_columns - 1)

    def _count(self, step: StepResult[Any]) -> None:
        self.dropped_late += step.dropped_late
        self.dropped_closed += step.dropped_closed
        self.open_groups = step.open_groups

    def _out(self, made: pa.Table) -> list[Out]:
        assert made.column_names == [f"c{i}" for i in range(len(self.types))]
        assert made.schema.types == [t for _, t in self.types]
        out = []
        for values in made.to_pylist():
            key, start, end, *results = values.values()
            *results, index, spec, timing, first, last, timestamp, kind, row, watermark = results
            if kind == 4:
                self.late.append(Late(key, row, watermark))
                continue
            window = None if end is None else (start, end)
            out.append(Out(kind, key, window, tuple(results), index, spec, timing, first, last, timestamp))
        return out
