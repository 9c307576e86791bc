"""Compute a query in this process micro-batch by micro-batch, with the clocks that a run of Spark had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sqlext.local.engine import gathered
from sqlext.rewrite.arrow.in_process import LocalScript, Operated, Queried
from sqlext.rewrite.script.model import OperatorView, ReadView
from sqlext_udfs.kernel.clock import Clock, behind
from sqlext_udfs.windows.policy_json import policy_from_json
from sqlext_udfs.windows.triggers.rules import uses_watermark


@dataclass(frozen=True)
class BatchInput:
    """A micro-batch.

    Attributes:
        rows: of each table's view what came, by the view's name; nothing for views without rows.
        watermark, late: that of the micro-batch and that of the one before, in ms since 1970, or ``Clock.END``; None
            before the first one.
        clock: processing time in ms since 1970 UTC.
    """

    rows: Mapping[str, pa.Table]
    watermark: int | None
    late: int | None
    clock: int | None


def steps_taken(script: LocalScript, batches: Iterable[BatchInput]) -> Iterator[pa.Table]:
    """Yield what comes out of a query in each micro-batch.

    Raises:
        SqlExtError: RUN-... for rows that cannot be computed.
    """
    run = _Run(script)
    for batch in batches:
        yield run.batch(batch)


@dataclass
class _Run:
    script: LocalScript
    _states: dict[str, Any] = field(default_factory=dict)
    _times: dict[str, _OperatorTime] = field(default_factory=dict)
    _begun: bool = False

    def __post_init__(self) -> None:
        views = (step for step in self.script.script.steps if isinstance(step, OperatorView))
        self._times = {view.view: _OperatorTime.of(view) for view in views}

    def batch(self, batch: BatchInput) -> pa.Table:
        tables: dict[str, pa.Table] = {}
        for step in self.script.steps:
            if isinstance(step, ReadView):
                found = batch.rows.get(step.view)
                tables[step.view] = found if found is not None else _empty(step)
            elif isinstance(step, Queried):
                tables[step.view] = step.query.run(tables)
            else:
                assert isinstance(step, Operated), "packed rows are of a statement set"
                tables[step.view] = self._operated(step, tables[step.input], batch)
        self._begun = True
        return self.script.query.run(tables)

    def _operated(self, step: Operated, rows: pa.Table, batch: BatchInput) -> pa.Table:
        operator, _, columns = step.operator
        schema = pa.schema(list(columns))
        clock = self._times[step.view].clock(batch, first=not self._begun)
        state = self._states.get(step.view)
        state = operator.empty() if state is None else state
        done = operator.step(state, gathered(operator, rows) if rows.num_rows else None, clock)
        self._states[step.view] = done.state
        return done.out.rename_columns(schema.names).cast(schema) if done.out.num_columns else schema.empty_table()


@dataclass(frozen=True)
class _OperatorTime:
    """What an operator is told of time, as ``spark.bucket_steps`` does."""

    event_time: bool
    lag: int

    @classmethod
    def of(cls, view: OperatorView) -> _OperatorTime:
        arguments: Mapping[str, Any] = dict(view.arguments)
        if view.function == "window":
            return cls(uses_watermark(policy_from_json(arguments["policy"])), arguments.get("lag", 0))
        return cls(bool(arguments.get("event_time")), arguments.get("lag", 0))

    def clock(self, batch: BatchInput, *, first: bool) -> Clock:
        watermark, late = batch.watermark, batch.late
        if not self.event_time:
            return Clock(watermark if watermark == Clock.END else None, None, batch.clock)
        before = Clock.BEGIN if first and late is None else late or 0
        return Clock(behind(watermark or 0, self.lag), behind(before, self.lag), batch.clock)


def _empty(step: ReadView) -> pa.Table:
    columns: Any = step.columns
    return pa.schema(list(columns)).empty_table()
